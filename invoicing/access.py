"""The permissions of the application; what a user may see is a queryset: `visible_to(user)`."""

from enum import StrEnum


class Permission(StrEnum):
    """Each as Django's `app_label.codename`."""

    VIEW_CUSTOMER = "invoices.view_customer"
    VIEW_DOCUMENT = "invoices.view_document"
    VIEW_PERSON = "invoices.view_person"
    MANAGE = "invoices.manage"
    FINALIZE = "invoices.finalize"
    VIEW_ALL_CUSTOMERS = "invoices.view_all_customers"
    MANAGE_CUSTOMERS = "invoices.manage_customers"
    EXPORT = "invoices.export"
    AUDIT = "invoices.audit"


WRITE_PERMISSIONS = (Permission.VIEW_DOCUMENT, Permission.MANAGE)
# Nobody approves what they may not read, and no agent reads it for them.
APPROVE_PERMISSIONS = (Permission.VIEW_DOCUMENT, Permission.FINALIZE)
ISSUE_PERMISSIONS = (*APPROVE_PERMISSIONS, Permission.MANAGE)
EXPORT_PERMISSIONS = (Permission.VIEW_DOCUMENT, Permission.EXPORT)
IMPORT_PERMISSIONS = (Permission.VIEW_CUSTOMER, Permission.MANAGE_CUSTOMERS)
