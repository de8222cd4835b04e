"""What differs from what a person saw or rejected before stands in the paper itself."""

import copy
import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.db import DatabaseError

from agent_access.approvals import sightings
from agent_access.approvals.models import Decision, Sighting
from invoicing.access import Permission
from invoicing.fixed_point import SCALE
from invoicing.models import Document
from invoicing.paper.layout import lay_out
from invoicing.paper.marking import is_marked, mark_changes
from invoicing.services.drafts import ConnectionRef, update_draft
from invoicing.web.changes import find_changes
from tests.approvals import A_MINUTE_LATER, PREPARED_AT, Prepared, prepare
from tests.factories import draft_input, line_input, make_draft, withdraw
from tests.web import test_changes
from tests.web.reviews import path_of, read, send
from tests.web.test_changes import facts  # noqa: F401  a fixture

SINCE = "since you looked at it on March 2, 2026, 09:01 UTC"


def change(prepared: Prepared, *lines: Any, **header: Any) -> Prepared:
    """Save the draft with other lines and ask for its issue once more, by the same connection."""
    draft = Document.objects.get(pk=prepared.document.pk)
    rate = draft.lines.get(position=0).tax_rate_id if not lines else None
    asked = lines or (line_input(tax_rate_id=rate),)
    changed = draft_input(draft.customer, *asked, **{"notes": draft.notes} | header)
    update_draft(prepared.user, draft.pk, changed, lock_version=draft.lock_version)
    draft.refresh_from_db()
    maker = ConnectionRef(prepared.approval.connection_id, "Ledger agent")
    return prepare(draft, user=prepared.user, connection=maker, now=A_MINUTE_LATER)


def marks_of(answer: Any) -> list[str]:
    """Return what is marked in the paper: "-old", "+new", in its order."""
    paper = answer.content.decode().split('<article class="card paper"')[1].split("</article>")[0]
    found = re.findall(r"<(del|ins)>(?:<span class=\"unseen\"[^>]*>[^<]*</span>)?(.*?)</\1>", paper)
    signs = {"del": "-", "ins": "+"}
    return [signs[tag] + unescape(re.sub(r"<[^>]*>", " ", text)).strip() for tag, text in found]


def test_at_the_first_look_nothing_is_marked(desk, prepared):
    answer = desk.get(path_of(prepared))
    assert marks_of(answer) == []
    assert "since you" not in read(answer)


def test_a_figure_that_changed_stands_beside_the_one_that_was_seen(desk, prepared, tax_rate):
    desk.get(path_of(prepared))
    later = change(prepared, line_input(tax_rate_id=tax_rate.id, unit_price=6000))
    # And it stays while the person looks at it.
    answers = [desk.get(path_of(later)) for _ in range(2)]
    for answer in answers:
        assert f"Changed {SINCE}" in read(answer)
        assert marks_of(answer) == [
            *("-50.00", "+60.00", "-100.00", "+120.00", "-€100.00", "+€120.00"),
            *("-€100.00", "+€120.00", "-€19.00", "+€22.80"),  # of the rate
            *("-€19.00", "+€22.80", "-€119.00", "+€142.80"),
        ]
    page = answers[0].content.decode()
    assert '<del><span class="unseen" lang="en">before: </span><bdi>50.00</bdi></del>' in page
    assert '<ins><span class="unseen" lang="en">now: </span><bdi>60.00</bdi></ins>' in page


def test_lines_that_came_and_went_are_marked_where_they_are(desk, prepared, tax_rate):
    first, gone = (line_input(description=text, tax_rate_id=tax_rate.id) for text in ("A", "B"))
    seen = change(prepared, first, gone)
    desk.get(path_of(seen))
    later = change(prepared, line_input(description="New", unit_price=100, quantity=SCALE), first)
    answer = desk.get(path_of(later))
    page = read(answer)

    assert marks_of(answer)[:2] == ["+New", "-B"]
    assert page.index("Added New") < page.index("A 2 50.00") < page.index("Removed B")


def test_a_date_and_notes_that_changed_or_went_are_marked(desk, prepared):
    desk.get(path_of(prepared))
    later = change(prepared, notes="", due_date=PREPARED_AT.date() + timedelta(days=10))
    answer = desk.get(path_of(later))
    assert marks_of(answer) == ["-April 1, 2026", "+March 12, 2026", "-Thank you."]


def test_what_the_paper_does_not_show_is_listed(desk, prepared, customer):
    desk.get(path_of(prepared))
    customer.email = "bills@acme.example"
    customer.save()
    later = change(prepared)
    answer = desk.get(path_of(later))
    assert marks_of(answer) == []
    assert "What the paper does not show" in read(answer)
    assert "Customer’s e-mail address – bills@acme.example" in read(answer)  # noqa: RUF001  an apostrophe for readers


def test_what_was_rejected_is_compared_with_though_it_was_seen_later(desk, prepared, tax_rate):
    desk.get(path_of(prepared))
    second = change(prepared, line_input(tax_rate_id=tax_rate.id, unit_price=6000))
    desk.get(path_of(second))
    second.decide(Decision.REJECTED, reason="Too much.", now=A_MINUTE_LATER)
    third = change(second, line_input(tax_rate_id=tax_rate.id, unit_price=5500))
    answer = desk.get(path_of(third))
    assert "Changed since you rejected it on March 2, 2026, 09:01 UTC" in read(answer)
    assert marks_of(answer)[:2] == ["-60.00", "+55.00"]


def test_what_was_rejected_and_is_asked_again_unchanged_says_so(desk, prepared):
    send(desk, prepared, "reject", reason="Too much.")
    maker = ConnectionRef(prepared.approval.connection_id, "Ledger agent")
    draft = Document.objects.get(pk=prepared.document.pk)
    again = prepare(draft, user=prepared.user, connection=maker, now=A_MINUTE_LATER)
    answer = desk.get(path_of(again))
    assert marks_of(answer) == []
    told = "You rejected the issue of this draft on March 2, 2026, 09:01 UTC. Nothing on it has"
    assert told in read(answer)


def test_a_glance_after_a_rejection_does_not_hide_what_changed_since_that(
    desk, prepared, tax_rate, clock
):
    """An agent that asks twice for what it changed once must not have it pass as known."""
    send(desk, prepared, "reject", reason="Too much.")
    clock.shift(1)
    changed = change(prepared, line_input(tax_rate_id=tax_rate.id, unit_price=6000))
    assert "-€119.00" in marks_of(desk.get(path_of(changed)))
    draft = Document.objects.get(pk=prepared.document.pk)
    maker = ConnectionRef(prepared.approval.connection_id, "Ledger agent")
    again = prepare(draft, user=prepared.user, connection=maker, now=A_MINUTE_LATER)
    answer = desk.get(path_of(again))
    assert marks_of(answer) == []
    assert "It has changed since. Your reason:" in read(answer)
    assert "Total €119.00 €142.80" in read(answer)


def test_what_a_colleague_looked_at_is_not_compared_with(desk, prepared, sign_in, colleague):
    theirs = prepare(prepared.document, user=colleague)
    sign_in(colleague).get(path_of(theirs))
    later = change(prepared, notes="Other.")
    assert marks_of(desk.get(path_of(later))) == []


def test_who_may_no_longer_see_the_document_is_shown_no_difference(desk, prepared, delegate):
    desk.get(path_of(prepared))
    later = change(prepared, notes="Other.")
    withdraw(delegate, Permission.VIEW_ALL_CUSTOMERS)
    page = desk.get(path_of(later)).content.decode()
    assert "Thank you." not in page
    assert "Other." not in page
    assert Sighting.objects.get().shown_id == prepared.approval.pk


def test_the_version_of_the_page_does_not_depend_on_what_was_seen(desk, prepared):
    desk.get(path_of(prepared))
    later = change(prepared, notes="Other.")
    told = desk.get(f"{path_of(later)}/version").json()["version"]
    assert f'data-version="{told}"' in desk.get(path_of(later)).content.decode()
    assert desk.get(f"{path_of(later)}/version").json()["version"] == told


@pytest.mark.parametrize("method", ["head", "post"])
def test_only_a_page_that_is_shown_counts_as_seen(desk, prepared, method):
    getattr(desk, method)(path_of(prepared))
    assert not Sighting.objects.exists()


def test_a_person_has_one_row_for_a_draft_however_often_they_look(desk, prepared):
    desk.get(path_of(prepared))
    later = change(prepared, notes="Other.")
    for each in (later, later, prepared, later):
        desk.get(path_of(each))
    kept = Sighting.objects.get()
    assert (kept.person, kept.target) == (prepared.user, prepared.document.pk)
    assert (kept.shown_id, kept.before_id) == (later.approval.pk, prepared.approval.pk)


def test_a_look_that_cannot_be_kept_shows_the_page_all_the_same(
    desk, prepared, monkeypatch, caplog
):
    def fail(*_: Any) -> None:
        raise DatabaseError

    monkeypatch.setattr(sightings, "_keep", fail)
    assert desk.get(path_of(prepared)).status_code == 200
    assert "the sighting of a request was not kept" in caplog.text


def test_two_first_looks_at_once_keep_one(desk, prepared, monkeypatch):
    monkeypatch.setattr(sightings, "_sighting_of", lambda _: None)  # as both read it
    assert [desk.get(path_of(prepared)).status_code for _ in range(2)] == [200, 200]
    assert Sighting.objects.count() == 1


def test_every_fact_that_differs_is_marked_on_the_paper_or_listed(facts):  # noqa: F811  the fixture
    silent = set()
    for name, changed in test_changes.changed_facts(facts):
        listed = [each for each in find_changes(facts, changed) if not each.is_on_paper]
        if not listed and not is_marked(mark_changes(changed, facts)):
            silent.add(name)
    assert silent <= set(test_changes.UNSEEN)


def test_a_paper_that_is_the_same_has_no_mark(facts):  # noqa: F811  the fixture
    same = mark_changes(copy.deepcopy(facts), facts)
    assert not is_marked(same)
    plain = lay_out(facts)
    assert [same[name] for name in ("head", "taxes_total", "notes") if name in plain] == [
        plain[name] for name in ("head", "notes")
    ]


def test_what_differs_only_in_the_language_is_not_marked(facts):  # noqa: F811  the fixture
    assert not is_marked(mark_changes({**facts, "language": "de"}, facts))


def test_another_draft_of_the_customer_is_not_compared_with(desk, prepared):
    desk.get(path_of(prepared))
    other = make_draft(user=prepared.user, customer=prepared.document.customer, notes="Other.")
    assert marks_of(desk.get(path_of(prepare(other, user=prepared.user)))) == []
