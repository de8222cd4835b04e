"""Loads the whole sample company, with as many documents as are asked for."""

import os
import secrets
from dataclasses import replace
from typing import NamedTuple

from django.core.management import CommandError
from django.db import IntegrityError, transaction
from tqdm import tqdm

from invoicing.models import Company
from invoicing.sample_company.customers import retire_customers, write_customers
from invoicing.sample_company.documents import MasterData, write_document, write_tax_rates
from invoicing.sample_company.staff import DOMAIN, write_staff
from invoicing.sample_company.tables import COMPANY
from invoicing.tax_wordings import WORDINGS

DEFAULT_DOCUMENTS = 120
PASSWORD_BYTES = 12

OWNER = f"olivia@{DOMAIN}"
BOOKKEEPER = f"dana@{DOMAIN}"


class Password(NamedTuple):
    """The one password of all sample people; a new one is random and has to be shown."""

    text: str
    is_new: bool


class CompanyExistsError(Exception):
    """The database has a company already."""


def choose_password(given: str | None) -> Password:
    """Return the password given, else SAMPLE_PASSWORD of the environment, else a random one.

    Raises CommandError for raw bytes, with which nobody could sign in.
    """
    known = given or os.environ.get("SAMPLE_PASSWORD", "")
    try:
        known.encode()
    except UnicodeEncodeError:
        raise CommandError("SAMPLE_PASSWORD is not text in UTF-8.") from None
    return Password(known or secrets.token_urlsafe(PASSWORD_BYTES), is_new=not known)


def load_sample_company(*, password: str, documents: int = DEFAULT_DOCUMENTS) -> None:
    """Write the company, its people, customers, tax rates, and this number of documents.

    All but what is beyond DEFAULT_DOCUMENTS is one transaction: a load that is killed leaves
    nothing, or the company with fewer documents. Raises CompanyExistsError.
    """
    first = min(documents, DEFAULT_DOCUMENTS)
    with transaction.atomic():
        master_data = _write_master_data(password, documents)
        for index in range(first):
            write_document(master_data, index)
        master_data = replace(master_data, accounts=retire_customers(master_data.accounts))
    indexes = range(first, documents)
    for index in tqdm(indexes, desc="Documents", disable=None, leave=False, delay=1):
        write_document(master_data, index)


def _write_master_data(password: str, documents: int) -> MasterData:
    if Company.objects.exists():
        raise CompanyExistsError
    try:
        staff = write_staff(password)
    except IntegrityError as error:  # another load was faster
        raise CompanyExistsError from error
    untaxed = WORDINGS[COMPANY["untaxed"]]
    Company.objects.create(
        owner=staff["olivia"],
        untaxed_category=untaxed.category,
        untaxed_reasons=untaxed.reasons,
        **COMPANY["company"],
    )
    return MasterData(
        staff=staff,
        accounts=write_customers(staff),
        tax_rates=write_tax_rates(),
        document_count=documents,
    )
