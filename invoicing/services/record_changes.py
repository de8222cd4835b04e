"""Changes of a record's fields, by name: normalised, compared, validated and written."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, models, transaction
from django.utils.translation import gettext_lazy as _

from agent_access.texts import ControlCharacterError, normalise_text

Changes = Mapping[str, Any]

UNREADABLE = _("Leave out control characters.")
TAKEN_MEANWHILE = _("Somebody else saved the same at this moment. Please check again.")

# Shown by no form, so that a change of these makes no form outdated.
_UNSHOWN = frozenset(
    {
        *("password", "password_upgrades", "last_login", "session_revision"),
        *("passkeys_required_from", "setup_put_away_at"),
    }
)


def tidy_changes(record: models.Model, changes: Changes) -> dict[str, Any]:
    """Return the changes with normalised texts (agent_access.texts); raises ValidationError."""
    tidied, problems = {}, {}
    for name, value in changes.items():
        try:
            tidied[name] = _tidy(record, name, value)
        except ControlCharacterError:
            problems[name] = UNREADABLE
    if problems:
        raise ValidationError(problems)
    return tidied


def _tidy(record: models.Model, name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    is_long = isinstance(record._meta.get_field(name), models.TextField)
    return normalise_text(value, multiline=is_long)


def find_changed(record: models.Model, changes: Changes) -> dict[str, Any]:
    """Return those of the changes that would alter the record."""
    return {name: value for name, value in changes.items() if _is_other(record, name, value)}


def _is_other(record: models.Model, name: str, value: Any) -> bool:
    if name in _related_names(record):
        return _related_ids(record, name) != sorted(str(each.pk) for each in value)
    return bool(getattr(record, name) != value)


def write_changes(record: models.Model, changes: Changes) -> None:
    """Save a record, new or not, with the changes; raises ValidationError."""
    related = _related_names(record)
    columns = {name: value for name, value in changes.items() if name not in related}
    for name, value in columns.items():
        setattr(record, name, value)
    record.full_clean(exclude=_UNSHOWN)
    try:
        with transaction.atomic():
            _save(record, columns)
    except IntegrityError:
        raise ValidationError(TAKEN_MEANWHILE) from None
    for name in related & changes.keys():
        getattr(record, name).set(changes[name])


def _save(record: models.Model, columns: Iterable[str]) -> None:
    if record._state.adding:
        record.save(force_insert=True)
    else:
        record.save(update_fields=columns)


def _related_names(record: models.Model) -> set[str]:
    return {field.name for field in record._meta.many_to_many}


def _related_ids(record: models.Model, name: str) -> list[str]:
    return sorted(str(pk) for pk in getattr(record, name).values_list("pk", flat=True))


def digest_record(record: models.Model, *, also: object = None) -> str:
    """Return a SHA-256 of all shown fields and of `also`, to tell whether they changed since."""
    columns = {
        field.attname: str(getattr(record, field.attname))
        for field in record._meta.concrete_fields
        if field.name not in _UNSHOWN
    }
    related = {name: _related_ids(record, name) for name in sorted(_related_names(record))}
    facts = json.dumps([columns, related, str(also)], sort_keys=True)
    return hashlib.sha256(facts.encode()).hexdigest()
