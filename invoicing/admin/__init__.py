from invoicing.admin import (
    bookkeeping,
    company,
    customers,
    numbering,
    people,
    roles,
    taxes,
    teams,
    toolkit,
)

__all__ = [
    "bookkeeping",
    "company",
    "customers",
    "numbering",
    "people",
    "roles",
    "taxes",
    "teams",
    "toolkit",
]
