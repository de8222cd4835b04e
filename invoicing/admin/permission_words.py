"""The permissions in plain words, in the order in which forms show them."""

from invoicing.access import Permission

APPLICATION = {
    Permission.VIEW_CUSTOMER: "See customers",
    Permission.VIEW_DOCUMENT: "See documents",
    Permission.VIEW_PERSON: "See people and teams",
    Permission.VIEW_ALL_CUSTOMERS: "Reach all customers and their documents, not only their own",
    Permission.MANAGE: "Create and change drafts",
    Permission.FINALIZE: "Issue documents",
    Permission.EXPORT: "Export documents and bookings",
    Permission.AUDIT: "Read the evidence of all issued documents",
    Permission.MANAGE_CUSTOMERS: "Import customers, and administration: add and change customers",
}

# These have an effect for administrators only.
ADMINISTRATION = {
    "invoices.view_user": "Administration: see people",
    "invoices.add_user": "Administration: add people",
    "invoices.change_user": "Administration: change people and their sign-ins",
    "invoices.view_team": "Administration: see teams",
    "invoices.add_team": "Administration: add teams",
    "invoices.change_team": "Administration: change and archive teams",
    "invoices.add_skill": "Administration: add skills",
    "invoices.change_skill": "Administration: change skills",
    "invoices.add_customer": "Administration: add customers",
    "invoices.change_customer": "Administration: change customers and their account managers",
    "invoices.view_taxrate": "Administration: see tax rates",
    "invoices.add_taxrate": "Administration: add tax rates",
    "invoices.change_taxrate": "Administration: change tax rates",
    "invoices.view_numberseries": "Administration: see number series",
    "invoices.change_numberseries": "Administration: change how documents are numbered",
    "invoices.view_datevsettings": "Administration: see the numbers for DATEV",
    "invoices.change_datevsettings": "Administration: change the numbers for DATEV",
    "invoices.view_company": "Administration: see the company",
    "invoices.change_company": "Administration: change the company",
}

WORDS = {str(name): words for name, words in (APPLICATION | ADMINISTRATION).items()}
