"""Changes how documents are numbered, as an act of administration."""

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction

from agent_access.audit import Actor
from invoicing.administration.acts import act_of, record_admin_act
from invoicing.administration.records import IsAllowed
from invoicing.errors import ConflictError
from invoicing.models import DocumentType, NumberFormat
from invoicing.number_formats import NumberStyle
from invoicing.services.numbering import (
    Numbering,
    lock_formats,
    read_numbering,
    require_distinct,
    save_format,
    start_series,
)


class WantedNumbering(NamedTuple):
    """How a type is to be numbered; the next value is None where it is not chosen."""

    style: NumberStyle
    next_value: int | None


def digest_numbering(numbering: Mapping[DocumentType, Numbering], year: int) -> str:
    """Return a SHA-256 of what can be changed for documents that are dated in this year."""
    facts = [
        (each, shown.style, shown.is_begun or shown.next_value)
        for each, shown in sorted(numbering.items())
    ]
    return hashlib.sha256(repr((year, facts)).encode()).hexdigest()


@transaction.atomic
def change_numbering(
    actor: Actor,
    wanted: Mapping[DocumentType, WantedNumbering],
    *,
    year: int,
    seen: str,
    is_allowed: IsAllowed,
) -> None:
    """Write the formats of all types, and the next values of their series of this year.

    `seen` is digest_numbering() of what the person was shown. No document is issued meanwhile.
    Raises ValidationError by fields such as invoice_prefix, PermissionMissingError, and
    ConflictError if anything is different by now.
    """
    # Before the locks of an act, as issuing does.
    formats = lock_formats(*DocumentType)
    with act_of(actor, is_allowed):
        if digest_numbering(read_numbering(year), year) != seen:
            raise ConflictError
        for each in formats:
            if changed := _write(each, wanted[DocumentType(each.type)], year):
                detail = ", ".join(changed)
                record_admin_act(
                    "number_format:changed", target=each.pk, actor=actor, detail=detail
                )
        require_distinct(formats)


def _write(number_format: NumberFormat, wanted: WantedNumbering, year: int) -> list[str]:
    try:
        changed = save_format(number_format, wanted.style)
        if wanted.next_value is not None:
            start_series(number_format, year, next_value=wanted.next_value)
            changed.append("next_value")
    except ValidationError as refusal:
        problems = refusal.message_dict.items()
        raise ValidationError(
            {f"{number_format.type}_{field}": told for field, told in problems}
        ) from None
    return changed
