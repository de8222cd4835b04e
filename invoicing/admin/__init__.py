from invoicing.admin import company, customers, documents, people, roles, taxes, teams

__all__ = ["company", "customers", "documents", "people", "roles", "taxes", "teams"]
