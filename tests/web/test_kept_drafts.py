"""What a browser is given to keep a typed draft: a name and a key of the person and no other."""

import base64
import re

from tests.factories import make_draft, make_staff
from tests.web.forms import read_form

WRITER = ("invoices.view_document", "invoices.view_customer", "invoices.manage")
KEPT = re.compile(r'data-kept-(name|owner|key)="([^"]*)"')


def kept_in(answer) -> dict[str, str]:
    return dict(KEPT.findall(answer.content.decode()))


def test_each_person_has_a_key_and_names_of_their_own(sign_in, customer):
    one, other = make_staff(*WRITER), make_staff(*WRITER)
    path = f"/documents/{make_draft(customer=customer).id}/edit"
    theirs, others = (kept_in(sign_in(person).get(path)) for person in (one, other))
    for part in ("name", "owner", "key"):
        assert theirs[part] != others[part]
    for person, kept in ((one, theirs), (other, others)):
        assert len(base64.b64decode(kept["key"])) == 32
        assert str(person.pk) not in str(kept)
        assert kept["key"] not in kept["name"]


def test_both_stay_the_same_after_signing_in_anew(sign_in, writer, customer):
    path = f"/documents/{make_draft(customer=customer).id}/edit"
    assert kept_in(sign_in(writer).get(path)) == kept_in(sign_in(writer).get(path))


def test_the_page_of_a_saved_draft_names_what_may_be_forgotten(writer_desk, filled):
    page = writer_desk.get("/documents/new")
    sent = filled | {"draft_code": read_form(page)["draft_code"], "save": ""}
    saved = writer_desk.post("/documents/new", sent)["Location"]
    shown = writer_desk.get(saved).content.decode()
    assert re.findall(r'data-kept-done="([^"]*)"', shown) == [kept_in(page)["name"]]
    assert "data-kept-done" not in writer_desk.get(saved.partition("?")[0]).content.decode()
