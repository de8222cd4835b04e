from invoicing.admin import company, customers, people, roles, taxes, teams

__all__ = ["company", "customers", "people", "roles", "taxes", "teams"]
