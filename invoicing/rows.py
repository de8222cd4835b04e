"""The models whose rows are read and written by hand-written statements (ADR 13)."""

from agent_access.database.rows import Rows
from invoicing.models import (
    Company,
    Customer,
    Document,
    IssueApproval,
    Line,
    NumberSeries,
    TaxRate,
    TaxRow,
)

APPROVALS = Rows(IssueApproval)
COMPANIES = Rows(Company)
CUSTOMERS = Rows(Customer)
DOCUMENTS = Rows(Document)
LINES = Rows(Line)
RATES = Rows(TaxRate)
SERIES = Rows(NumberSeries)
TAX_ROWS = Rows(TaxRow)
