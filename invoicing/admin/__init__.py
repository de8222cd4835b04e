from invoicing.admin import company, customers, numbering, people, roles, taxes, teams

__all__ = ["company", "customers", "numbering", "people", "roles", "taxes", "teams"]
