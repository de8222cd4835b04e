from invoicing.models.bookkeeping import DatevSettings
from invoicing.models.company import Company, Logo
from invoicing.models.customer_imports import CustomerImport
from invoicing.models.customers import Customer
from invoicing.models.documents import Document, DocumentStatus, Line, TaxRow
from invoicing.models.numbering import DocumentType, NumberFormat, NumberSeries
from invoicing.models.originals import Original, OriginalKind
from invoicing.models.people import Role, Skill, Team, TimeOff, TimeOffKind, User, WorkingHours
from invoicing.models.search_words import SearchWord
from invoicing.models.taxes import TaxCategory, TaxRate

__all__ = [
    "Company",
    "Customer",
    "CustomerImport",
    "DatevSettings",
    "Document",
    "DocumentStatus",
    "DocumentType",
    "Line",
    "Logo",
    "NumberFormat",
    "NumberSeries",
    "Original",
    "OriginalKind",
    "Role",
    "SearchWord",
    "Skill",
    "TaxCategory",
    "TaxRate",
    "TaxRow",
    "Team",
    "TimeOff",
    "TimeOffKind",
    "User",
    "WorkingHours",
]
