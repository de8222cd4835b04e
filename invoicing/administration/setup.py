"""The acts of setting up: proposed tax rates are taken over, and the checklist is put away."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from agent_access.audit import Actor
from invoicing.administration.acts import act_of, record_admin_act
from invoicing.administration.records import change_record, create_record
from invoicing.models import Company, DocumentType, TaxRate, User
from invoicing.rights import may_administer, may_set_up
from invoicing.services.numbering import lock_formats
from invoicing.services.record_changes import digest_record
from invoicing.tax_proposals import ProposedRate
from invoicing.tax_wordings import WORDINGS

MAY_ADD_RATES = partial(may_administer, permission="invoices.add_taxrate")
MAY_CHANGE_COMPANY = partial(may_administer, permission="invoices.change_company")


def may_take_rates(user: User) -> bool:
    """Return whether the user may take over proposed rates, and say what lines without one mean."""
    return MAY_ADD_RATES(user) and MAY_CHANGE_COMPANY(user)


@transaction.atomic
def take_rates(actor: Actor, rates: Sequence[ProposedRate], *, untaxed: str = "") -> list[TaxRate]:
    """Save proposed rates but those that are there already, and return them.

    `untaxed` is the wording of lines without a rate, "" to leave it as it is; one that was chosen
    before stays. Raises PermissionMissingError.
    """
    if untaxed:
        # Before the locks of an act, as change_record() does.
        lock_formats(*DocumentType)
    with act_of(actor, may_take_rates):
        made = [_create(actor, each) for each in rates if not is_there(each)]
        company = Company.objects.get()
        if untaxed and not company.untaxed_category:
            _say_untaxed(actor, company, untaxed)
    return made


def is_there(rate: ProposedRate) -> bool:
    """Return whether an active rate has this percentage and prints the same reason."""
    same = {"percentage_ten_thousandths": rate.percentage, "category": rate.category}
    reasons = dict(rate.reasons)
    return any(each.reasons == reasons for each in TaxRate.objects.filter(is_active=True, **same))


def _create(actor: Actor, rate: ProposedRate) -> TaxRate:
    changes = {
        "name": str(rate.name),
        "percentage_ten_thousandths": rate.percentage,
        "category": rate.category,
        "names": dict(rate.names),
        "reasons": dict(rate.reasons),
    }
    return create_record(actor, TaxRate(), changes, is_allowed=MAY_ADD_RATES)


def _say_untaxed(actor: Actor, company: Company, key: str) -> None:
    wording = WORDINGS[key]
    changes: dict[str, Any] = {
        "untaxed_category": wording.category,
        "untaxed_reasons": dict(wording.reasons),
        "is_small_business": wording.is_small_business,
    }
    change_record(
        actor,
        lambda _: Company.objects.all(),
        company.pk,
        changes,
        seen=digest_record(company),
        is_allowed=MAY_CHANGE_COMPANY,
    )


def put_setup_away(actor: Actor, *, away: bool) -> None:
    """Take the actor's checklist off their home page, or show it there again.

    Raises PermissionMissingError. Doing it twice changes nothing.
    """
    with act_of(actor, may_set_up) as by:
        rows = User.objects.filter(pk=by.pk, setup_put_away_at__isnull=away)
        if rows.update(setup_put_away_at=timezone.now() if away else None):
            act = "person:setup_put_away" if away else "person:setup_shown"
            record_admin_act(act, target=by.pk, actor=actor)
