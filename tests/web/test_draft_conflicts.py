"""A draft that changed while somebody wrote: nothing is overwritten, nothing typed is lost."""

from typing import Any

import pytest

from invoicing.access import Permission
from invoicing.models import Document, TaxRate, User
from invoicing.services.drafts import update_draft
from invoicing.services.issuing import issue_document
from invoicing.web.drafts import editor
from tests.clocks import at
from tests.factories import (
    ISSUED_AT,
    CustomerFactory,
    TaxRateFactory,
    draft_input,
    line_input,
    make_draft,
    withdraw,
)
from tests.web.forms import read_form, text_of

# What stands where a field is empty.
NOTHING = "\N{EN DASH}"


@pytest.fixture
def draft(writer, customer) -> Document:
    return make_draft(customer=customer, user=writer)


@pytest.fixture
def path(draft) -> str:
    return f"/documents/{draft.id}/edit"


@pytest.fixture
def form(writer_desk, path) -> dict[str, str]:
    """The form of the draft, which the writer has opened."""
    return read_form(writer_desk.get(path))


def save_theirs(draft: Document, *lines: Any, **fields: Any) -> None:
    """Save the draft elsewhere, with these lines and fields."""
    theirs = draft_input(draft.customer, *lines, **fields)
    update_draft(draft.created_by, draft.pk, theirs, lock_version=1)


def test_a_stale_edit_shows_what_differs_and_keeps_what_was_typed(writer_desk, draft, path, form):
    save_theirs(draft, line_input(quantity=30000), line_input(), reference="Theirs")

    answer = writer_desk.post(path, {**form, "notes": "Mine", "save": ""})

    assert answer.status_code == 409
    text = text_of(answer)
    assert "Somebody changed this draft while you were writing" in text
    row = (
        '<th scope="row">{}</th> <td data-label="Saved now"><span class="text">{}</span></td>'
        ' <td data-label="Yours"><span class="text">{}</span></td>'
    )
    for label, saved, typed in [
        ("Reference", "Theirs", NOTHING),
        ("Notes on the invoice", NOTHING, "Mine"),
        ("Line 1: Quantity", "3", "2"),
        ("Line 2: Description", "Consulting", NOTHING),
    ]:
        assert row.format(label, saved, typed) in text
    assert "Line 1: Description" not in text
    assert Document.objects.get().reference == "Theirs"
    assert "Replace it with mine" in text
    assert '<dd lang="en"> €100.00 </dd>' in text
    assert 'name="save" value="2">Replace it with mine</button>' in text
    again = read_form(answer)
    assert again["notes"] == "Mine"

    assert writer_desk.post(path, {**again, "save": "2"}).status_code == 302
    stored = Document.objects.get()
    assert (stored.notes, stored.reference, stored.lock_version) == ("Mine", "", 3)


@pytest.mark.parametrize(
    ("pressed", "status"),
    [
        ({"calculate": ""}, 200),
        ({"add_line": ""}, 200),
        ({"save": "2", "due_date": "never"}, 422),
        ({"save": "", "due_date": "never"}, 422),
    ],
    ids=str,
)
def test_what_was_saved_meanwhile_is_told_whatever_is_pressed(
    writer_desk, writer, customer, pressed, status
):
    draft = make_draft(customer=customer, user=writer, notes="One\ntwo")
    path = f"/documents/{draft.id}/edit"
    # Browsers send a line feed as CRLF.
    form = {**read_form(writer_desk.get(path)), "notes": "One\r\ntwo"}
    save_theirs(draft, notes="One\ntwo", reference="Theirs")
    for _ in range(2):
        answer = writer_desk.post(path, {**form, "reference": "Mine", **pressed})
        text = text_of(answer)
        assert answer.status_code == status
        assert "Somebody changed this draft while you were writing" in text
        assert '<th scope="row">Reference</th>' in text
        assert '<th scope="row">Notes on the invoice</th>' not in text
        assert "Discount in" not in text.partition("</table>")[0], "there is no discount"
        assert 'name="save" value="2">Replace it with mine</button>' in text
        form = read_form(answer)
    assert Document.objects.get().reference == "Theirs"


def test_a_tax_rate_that_both_let_go_meanwhile_is_named_and_stays_chosen(
    writer_desk, writer, customer
):
    rate = TaxRateFactory.create(name="Old rate")
    lines = (line_input(tax_rate_id=rate.id),)
    draft = make_draft(customer=customer, user=writer, lines=lines)
    path = f"/documents/{draft.id}/edit"
    form = read_form(writer_desk.get(path))
    save_theirs(draft)
    TaxRate.objects.update(is_active=False)

    answer = writer_desk.post(path, {**form, "add_line": ""})

    assert f">{rate} (inactive)</span>" in text_of(answer)
    assert read_form(answer)["line-0-tax_rate_id"] == str(rate.id)


def test_nothing_is_told_of_a_draft_that_nobody_else_changed(writer_desk, path, form):
    for pressed in [{"calculate": ""}, {"add_line": ""}, {"save": "", "due_date": "never"}]:
        assert "Somebody changed" not in text_of(writer_desk.post(path, form | pressed))


@pytest.mark.parametrize("pressed", [{"save": ""}, {"calculate": ""}, {"add_line": ""}], ids=str)
def test_after_a_conflict_only_its_own_button_replaces_what_is_saved(
    writer_desk, draft, path, form, pressed
):
    """The Enter key presses another one: the first of the form."""
    save_theirs(draft, reference="Theirs")
    conflict = read_form(writer_desk.post(path, {**form, "save": ""}))
    shown = read_form(writer_desk.post(path, {**conflict, **pressed}))

    answer = writer_desk.post(path, {**form, "lock_version": shown["lock_version"], "save": ""})

    assert answer.status_code == 409
    assert "Replace it with mine" in text_of(answer)
    assert Document.objects.get().reference == "Theirs"


@pytest.mark.parametrize("pressed", [{"calculate": ""}, {"save": "", "due_date": "never"}], ids=str)
def test_a_form_that_is_shown_again_stands_on_the_version_that_was_seen(
    writer_desk, draft, path, form, pressed
):
    save_theirs(draft, reference="Theirs")
    again = read_form(writer_desk.post(path, {**form, **pressed}))

    answer = writer_desk.post(path, {**again, "due_date": form["due_date"], "save": ""})

    assert answer.status_code == 409
    assert Document.objects.get().reference == "Theirs"


def test_an_edit_of_what_was_issued_meanwhile_saves_nothing(writer_desk, draft, path, form):
    issued = issue_document(draft, clock=at(ISSUED_AT))
    answer = writer_desk.post(path, {**form, "notes": "Mine", "save": ""})
    assert answer.status_code == 409
    assert f"It is {issued.number} now and stays as it is." in text_of(answer)
    assert "Replace it with mine" not in text_of(answer)
    assert read_form(answer)["notes"] == "Mine"
    assert Document.objects.get().notes == ""


@pytest.mark.parametrize("lock_version", ["", "0", "x", "9" * 40, "-1"])
def test_an_odd_version_is_a_stale_one(writer_desk, path, form, lock_version):
    sent = form | {"lock_version": lock_version, "save": ""}
    assert writer_desk.post(path, sent).status_code == 409
    assert Document.objects.get().lock_version == 1


def test_what_became_inactive_is_shown_as_such_and_refused(writer_desk, writer):
    rate = TaxRateFactory.create(name="Old rate")
    draft = make_draft(
        customer=CustomerFactory.create(name="Gone"),
        user=writer,
        lines=(line_input(tax_rate_id=rate.id),),
    )
    TaxRateFactory.create(name="Never used")
    TaxRate.objects.update(is_active=False)
    type(draft.customer).objects.update(is_active=False)
    path = f"/documents/{draft.id}/edit"
    page = writer_desk.get(path)
    assert "Gone, Amsterdam (inactive)" in text_of(page)
    assert "Old rate (19 %) (inactive)" in text_of(page)
    assert "Never used" not in text_of(page)
    answer = writer_desk.post(path, {**read_form(page), "save": ""})
    assert answer.status_code == 422
    assert "Is not an active customer within reach." in text_of(answer)
    assert "Is not an active tax rate." in text_of(answer)


@pytest.mark.parametrize(
    ("right", "status"),
    [
        (Permission.VIEW_DOCUMENT, 403),
        (Permission.MANAGE, 403),
        (Permission.VIEW_ALL_CUSTOMERS, 404),
    ],
)
@pytest.mark.parametrize("service", ["create_draft", "update_draft"])
def test_what_was_withdrawn_while_a_lock_was_waited_for_is_not_used(  # noqa: PLR0917  fixtures
    writer, writer_desk, filled, customer, monkeypatch, service, right, status
):
    draft = make_draft(customer=customer)
    page = "/documents/new" if service == "create_draft" else f"/documents/{draft.id}/edit"
    form = read_form(writer_desk.get(page)) | filled
    write = getattr(editor, service)

    def write_after_waiting(*args: Any, **kwargs: Any) -> Any:
        withdraw(User.objects.get(pk=writer.pk), right)
        return write(*args, **kwargs)

    monkeypatch.setattr(editor, service, write_after_waiting)
    before = Document.objects.values().get()
    assert writer_desk.post(page, form).status_code == status
    assert Document.objects.values().get() == before
