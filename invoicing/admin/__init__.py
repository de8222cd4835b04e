from invoicing.admin import books, company, documents, people, roles, taxes, teams

__all__ = ["books", "company", "documents", "people", "roles", "taxes", "teams"]
