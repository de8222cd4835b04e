from invoicing.admin import company, customers, numbering, people, roles, taxes, teams, toolkit

__all__ = ["company", "customers", "numbering", "people", "roles", "taxes", "teams", "toolkit"]
