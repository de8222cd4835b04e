"""Every page asks who is there and what they may see; each guard is looked for on all of them."""

import pytest
from django.urls import Resolver404, resolve

from invoicing.access import Permission
from invoicing.identifiers import new_id
from invoicing.models import Document
from invoicing.web.late_forms import keeps_typed
from tests.factories import UserFactory
from tests.web.forms import main_of, text_of
from tests.web.pages import OPEN, all_pages, name_of, path_of

# Who may see which page: no database decides that.
pytestmark = pytest.mark.sqlite

# These guard themselves: sign-out needs no permission, a passkey, a code or a link is one, and the
# script for notifications says nothing.
UNGUARDED = OPEN | {"sign-out"}


@pytest.mark.parametrize("route", all_pages(), ids=name_of)
def test_every_page_but_sign_in_asks_who_is_there(browser, company, route):
    path = path_of(route, company.id)
    for method in (browser.get, browser.post):
        answer = method(path)
        if route.name in OPEN:
            assert answer.status_code in {200, 405, 422}
        elif method == browser.post and keeps_typed(route.callback):
            assert (answer.status_code, "<h1>Sign in</h1>" in text_of(answer)) == (403, True)
        else:
            late = "&late" if method == browser.post else ""
            assert (answer.status_code, answer["Location"]) == (302, f"/sign-in?next={path}{late}")


def test_an_id_in_capitals_leads_to_the_same_page_and_no_other_form_to_any(subtests):
    known = new_id()
    for route in all_pages():
        path = "/" + str(route.pattern)
        assert "<uuid:" not in path  # Django's own takes no capitals
        if "<agent_access_id:pk>" not in path:
            continue
        with subtests.test(path=path):
            found = resolve(path.replace("<agent_access_id:pk>", str(known).upper()))
            assert (found.url_name, found.kwargs) == (route.name, {"pk": known})
            for form in (known.hex, f"urn:uuid:{known}", f"{{{known}}}", f"{known}0"):
                with pytest.raises(Resolver404):
                    resolve(path.replace("<agent_access_id:pk>", form))


@pytest.mark.parametrize("route", all_pages(), ids=name_of)
def test_every_page_says_which_permissions_it_needs(route):
    assert route.name in UNGUARDED or hasattr(route.callback, "permissions")


@pytest.mark.parametrize("route", all_pages(), ids=name_of)
def test_no_page_shows_anything_to_a_person_without_permissions(company, sign_in, route):
    nobody = sign_in(UserFactory.create())
    path = path_of(route, company.id)
    answer = nobody.get(path)
    permissions = getattr(route.callback, "permissions", ())
    assert answer.status_code == 403 if permissions else answer.status_code != 403
    assert "Halden Works" not in text_of(answer)


@pytest.mark.parametrize("is_superuser", [True, False])
def test_without_a_company_a_draft_is_saved_and_its_pages_say_what_is_missing(
    sign_in, filled, is_superuser
):
    """A superuser may write a draft before they add the company."""
    fields = {"is_staff": True, "is_superuser": True} if is_superuser else {}
    desk = sign_in(UserFactory.create(permissions=tuple(Permission), **fields))
    saved = desk.post("/documents/new", {**filled, "save": ""})["Location"]
    draft = Document.objects.get()
    for answer in (
        desk.get(saved),
        desk.get(f"/documents/{draft.id}/issue"),
        desk.post(f"/documents/{draft.id}/issue", {"fingerprint": "any"}),
    ):
        assert answer.status_code == 409
        assert "There is no company yet" in main_of(answer)
        assert ('href="/admin/invoices/company/add/"' in main_of(answer)) is is_superuser
    assert Document.objects.get().is_draft_invoice
    assert desk.get("/documents").status_code == 200
