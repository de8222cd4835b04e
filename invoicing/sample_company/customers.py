"""Sixty customers, with names in many scripts and four currencies; three become inactive."""

from collections.abc import Sequence
from dataclasses import dataclass

from invoicing.models import Customer
from invoicing.sample_company.staff import Staff
from invoicing.sample_company.tables import COMPANY, Row, read_table, split_cell
from invoicing.services.customers import change_customer, create_customers
from invoicing.vat_area import EU_VAT_AREA

CUSTOMER_FIELDS = (
    *("name", "street", "postcode", "city", "country", "vat_number"),
    *("customer_number", "email", "buyer_reference"),
    *("electronic_address_scheme", "electronic_address", "e_invoice"),
)
HOME: str = COMPANY["company"]["country"]
LANGUAGES = {"DE": "de", "AT": "de", "FR": "fr", "BE": "fr", "ES": "es"}


@dataclass(frozen=True)
class Account:
    """A customer, with what its documents share; `writer` is the mailbox of who writes them."""

    customer: Customer
    currency_code: str
    language: str
    writer: str

    @property
    def is_within_union(self) -> bool:
        """Return whether it is a business in another country of the EU."""
        return self.customer.country in EU_VAT_AREA - {HOME}


def write_customers(staff: Staff) -> list[Account]:
    """Save the customers, all active at first, so that documents can be written for each."""
    rows = read_table("customers")
    customers = create_customers(
        [Customer(**{name: row[name] for name in CUSTOMER_FIELDS}) for row in rows]
    )
    return [_make_account(*each, staff) for each in zip(customers, rows, strict=True)]


def _make_account(customer: Customer, row: Row, staff: Staff) -> Account:
    managers = split_cell(row["managers"])
    customer.account_managers.set(staff[mailbox] for mailbox in managers)
    return Account(
        customer=customer,
        currency_code=row["currency_code"],
        language=LANGUAGES.get(row["country"], "en"),
        writer="milo" if "milo" in managers else "dana",
    )


def retire_customers(accounts: Sequence[Account]) -> list[Account]:
    """Deactivate the customers that are to be inactive; return the accounts of the others."""
    retired = {row["name"] for row in read_table("customers") if row["is_active"] == "no"}
    for customer in Customer.objects.filter(name__in=retired):
        change_customer(customer.pk, is_active=False)
    return [account for account in accounts if account.customer.name not in retired]
