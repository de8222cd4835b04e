"""One form makes one draft, however often it is sent."""

import re
from functools import partial

import pytest

from invoicing.models import Document
from invoicing.services.issuing import issue_document
from invoicing.web.drafts.codes import give_code
from tests.clocks import at
from tests.factories import ISSUED_AT, make_draft
from tests.threads import run_together
from tests.web.forms import read_form, text_of


def test_sending_a_form_twice_makes_one_draft(writer_desk, writer, filled):
    earlier = make_draft(user=writer)
    form = filled | {"draft_code": read_form(writer_desk.get("/documents/new"))["draft_code"]}
    answers = [writer_desk.post("/documents/new", {**form, "save": ""}) for _ in range(2)]
    draft = Document.objects.exclude(pk=earlier.pk).get()
    assert [answer["Location"] for answer in answers] == [f"/documents/{draft.id}?done"] * 2
    assert form["draft_code"].startswith(f"{draft.draft_code}:")


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_a_double_click_makes_one_draft(writer_desk, writer, sign_in, filled):
    form = {**filled, "draft_code": give_code(writer), "save": ""}
    browsers = [sign_in(writer) for _ in range(5)]
    clicks = [partial(each.post, "/documents/new", form) for each in browsers]
    answers = run_together(clicks)
    path = f"/documents/{Document.objects.get().id}?done"
    assert {(answer.status_code, answer["Location"]) for answer in answers} == {(302, path)}


def test_a_form_taken_up_again_keeps_its_code_until_it_is_used(writer_desk, filled):
    form = filled | {"draft_code": read_form(writer_desk.get("/documents/new"))["draft_code"]}
    for button in ({"calculate": ""}, {"add_line": ""}, {"save": "", "reference": "x" * 101}):
        shown = read_form(writer_desk.post("/documents/new", form | button))
        assert shown["draft_code"] == form["draft_code"]
    assert not Document.objects.exists()


def test_a_used_form_that_says_something_else_is_not_swallowed(writer_desk, filled):
    """After going back to a form, a person may write another draft into it."""
    form = filled | {"draft_code": read_form(writer_desk.get("/documents/new"))["draft_code"]}
    writer_desk.post("/documents/new", {**form, "save": ""})
    first = Document.objects.get()
    answer = writer_desk.post("/documents/new", {**form, "reference": "Another", "save": ""})
    assert answer.status_code == 409
    text = text_of(answer)
    assert f'has already created a draft, <a href="/documents/{first.id}">{first}</a>' in text
    assert '<dd lang="de"> 16,86 € </dd>' in text
    again = read_form(answer)
    assert again["reference"] == "Another"
    assert again["draft_code"] != form["draft_code"]
    assert list(Document.objects.values_list("reference", flat=True)) == ["PO 7"]
    assert writer_desk.post("/documents/new", {**again, "save": ""}).status_code == 302
    assert sorted(Document.objects.values_list("reference", flat=True)) == ["Another", "PO 7"]


def test_a_used_form_of_an_issued_document_makes_nothing(writer_desk, filled):
    form = filled | {"draft_code": read_form(writer_desk.get("/documents/new"))["draft_code"]}
    writer_desk.post("/documents/new", {**form, "save": ""})
    issued = issue_document(Document.objects.get(), clock=at(ISSUED_AT))
    answer = writer_desk.post("/documents/new", {**form, "save": ""})
    assert answer["Location"] == f"/documents/{issued.id}?done"
    assert Document.objects.count() == 1


@pytest.mark.parametrize("code", ["", "D-12345678", "D-12345678:x", "x" * 5000, "another person's"])
def test_a_code_that_was_not_given_is_another_one(writer_desk, colleague, filled, code):
    sent = give_code(colleague) if code == "another person's" else code
    writer_desk.post("/documents/new", {**filled, "draft_code": sent, "save": ""})
    draft = Document.objects.get()
    assert re.fullmatch("D-[0-9A-Z]{8}", draft.draft_code)
    assert draft.draft_code not in sent
