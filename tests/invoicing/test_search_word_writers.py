"""Whoever writes customers and drafts, in whatever order, leaves the words that a rebuild would."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import transaction

from invoicing.administration.records import change_record, create_record
from invoicing.errors import ConflictError, DraftCodeUsedError
from invoicing.models import Customer, Document, DocumentStatus, User
from invoicing.services.customers import add_customer, change_customer
from invoicing.services.drafts import create_draft, update_draft
from invoicing.services.issuing import issue_document
from invoicing.services.record_changes import digest_record
from tests.administration import acting
from tests.clocks import at
from tests.factories import ISSUED_AT, CustomerFactory, UserFactory, draft_input, make_draft
from tests.invoicing.word_table import kept_rows, true_rows
from tests.snapshots import take_snapshot

pytestmark = pytest.mark.django_db

ACTS = 80
NAMES = ("Acme", "Acme Ltd", "Łódź & Søn", "東京商事", "Ac", "-")
REFERENCES = ("", "Acme 20", "PO-7", "東京")


class Office:
    """People who do one of their acts after another, as a seed tells."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311  no secret
        self.user = UserFactory.create(is_superuser=True, is_staff=True)
        self.acts: list[Callable[[], Any]] = [
            self.add_customer,
            self.rename,
            self.rename_in_the_administration,
            self.draft,
            self.draft,
            self.change_draft,
            self.issue,
        ]

    def act(self) -> None:
        self.random.choice(self.acts)()

    def name(self) -> str:
        return self.random.choice(NAMES)

    def customer(self) -> Customer:
        return self.random.choice(list(Customer.objects.order_by("id")))

    def written(self) -> dict[str, Any]:
        customer, reference = self.customer(), self.random.choice(REFERENCES)
        return {"asked": draft_input(customer, reference=reference)}

    def add_customer(self) -> None:
        changes = {"name": self.name(), "account_managers": [self.user]}
        create_record(acting(self.user), Customer(), changes, is_allowed=is_superuser)

    def rename(self) -> None:
        change_customer(self.customer().pk, name=self.name(), city=self.name())

    def rename_in_the_administration(self) -> None:
        customer = self.customer()
        change_record(
            acting(self.user),
            lambda _: Customer.objects.all(),
            customer.pk,
            {"name": self.name()},
            seen=digest_record(customer),
            is_allowed=is_superuser,
        )

    def draft(self) -> None:
        code = self.random.choice((None, "D-00000000"))
        try:
            create_draft(self.user, **self.written(), draft_code=code)
        except DraftCodeUsedError:
            assert code

    def drafts(self) -> list[Document]:
        return list(Document.objects.filter(status=DocumentStatus.DRAFT).order_by("id"))

    def change_draft(self) -> None:
        for draft in self.drafts()[:1]:
            version = draft.lock_version - self.random.choice((0, 0, 0, 1))
            try:
                update_draft(self.user, draft.pk, **self.written(), lock_version=version)
            except ConflictError:
                assert version < draft.lock_version

    def issue(self) -> None:
        for draft in self.drafts()[1:2]:
            issue_document(draft, clock=at(ISSUED_AT))


def is_superuser(user: User) -> bool:
    return user.is_superuser


@pytest.mark.parametrize("seed", [1, 2])
def test_after_every_act_the_table_says_what_a_rebuild_would(company, seed):
    office = Office(seed)
    office.add_customer()
    for _ in range(ACTS // 8):
        for _ in range(8):
            office.act()
        assert kept_rows() == true_rows()
    assert len(set(Document.objects.values_list("status", "buyer_name"))) > 3


def test_a_customer_that_is_refused_changes_no_word(company):
    customer = CustomerFactory.create(name="Acme")
    draft = make_draft(customer=customer)
    before = take_snapshot()
    for name in ("", "x" * 201):
        with pytest.raises(ValidationError):
            change_customer(customer.pk, name=name)
        with pytest.raises(ValidationError), transaction.atomic():
            add_customer(Customer(), {"name": name})
    assert take_snapshot() == before
    assert draft.customer_id == customer.pk
