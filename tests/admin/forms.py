"""The forms of the books: opened, changed and sent as a browser does, and what they say to it."""

from collections.abc import Callable
from typing import Any

from django.forms import ModelMultipleChoiceField
from django.urls import reverse

from agent_access.verification import find_breaks
from tests.administration import acts_written
from tests.snapshots import take_snapshot


def form_of(answer: Any) -> dict[str, Any]:
    """Return the fields of the record's form with the values that it shows."""
    form = answer.context["adminform"].form
    values = {bound.html_name: _sent(bound) for bound in form}
    return {name: value for name, value in values.items() if value is not None}


def _sent(bound: Any) -> Any:
    """Return what a browser sends of a value; of a box that is not ticked it sends nothing."""
    value = bound.value()
    if value is None and isinstance(bound.field, ModelMultipleChoiceField):
        return []
    if isinstance(value, bool):
        return "on" if value else None
    if isinstance(value, list):
        return [str(getattr(each, "pk", each)) for each in value]
    return "" if value is None else str(value)


def shown_of(answer: Any) -> dict[str, str]:
    """Return the texts that the page of a record shows to who may not change them, by field."""
    fields = [each for part in answer.context["adminform"] for line in part for each in line]
    return {each.field["name"]: str(each.contents()) for each in fields if each.is_readonly}


def problems_of(answer: Any) -> dict[str, list[str]]:
    """Return what the form says to each field, and under "__all__" to the whole."""
    errors = answer.context["adminform"].form.errors
    return {name: [str(problem) for problem in problems] for name, problems in errors.items()}


def url_of(record: Any) -> str:
    return reverse(f"admin:invoices_{record._meta.model_name}_change", args=[record.pk])


def add_url_of(model: Any) -> str:
    return reverse(f"admin:invoices_{model._meta.model_name}_add")


def save(desk: Any, record: Any, **fields: Any) -> Any:
    """Open the form of a record, or of a model's new one, change some fields, and send it."""
    return save_at(
        desk, add_url_of(record) if isinstance(record, type) else url_of(record), **fields
    )


def save_at(desk: Any, url: str, **fields: Any) -> Any:
    """Open the form of this address, change some fields, and send it; None leaves one out."""
    form = {**form_of(desk.get(url)), **fields}
    return desk.post(url, {name: each for name, each in form.items() if each is not None})


def assert_saved(answer: Any) -> None:
    assert answer.status_code == 302, problems_of(answer)
    assert list(find_breaks()) == []


def refused(act: Callable[[], Any]) -> dict[str, list[str]]:
    """Return what the form says, having seen that nothing changed."""
    before, events = snapshot_of_books(), acts_written()
    answer = act()
    assert answer.status_code == 200
    assert (snapshot_of_books(), acts_written()) == (before, events)
    return problems_of(answer)


def snapshot_of_books() -> dict[str, Any]:
    """Return all that the database holds but sessions and switches.

    Sessions keep what is said to a person, and an act locks the row of the switches, which it
    makes if there is none.
    """
    aside = {"sessions.Session", "agent_access.AccessSettings"}
    return {name: rows for name, rows in take_snapshot().items() if name not in aside}
