"""Where data could stay behind: caches, browsers, files, addresses."""

import pickle
import re
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.cache import caches
from django.db.models import FileField

from config.environment import PROJECT_FOLDER
from tests.factories import make_issued
from tests.operations.wsgi import send

ROOMS = ("agent_access", "invoicing", "templates")
BROWSER_STORAGE = re.compile(r"localStorage|sessionStorage|indexedDB|\bcaches\b|document\.cookie")


@pytest.mark.django_db
def test_of_calls_and_pages_the_cache_holds_counts_and_nothing_else(
    agent, draft_body, person, sign_in
):
    agent.call("customers.search", {"search": "acme"})
    agent.call("drafts.create", draft_body, key="one")
    sign_in(person).get("/documents?search=acme")
    send("GET", "/sign-in")
    kept = [pickle.loads(value) for value in vars(caches["default"])["_cache"].values()]  # noqa: S301  our own counts
    assert len(kept) >= 2
    assert {type(value) for value in kept} == {int}


@pytest.mark.django_db
@pytest.mark.parametrize("tail", ["/a.css", ".css", ";a.css", "%2ea.css", "/", "%0a.css"])
def test_no_address_that_looks_like_a_file_gives_a_record(person, sign_in, tail):
    """A cache on the way that goes by names would keep it for everybody."""
    browser = sign_in(person)
    issued = make_issued()
    for path in (f"/documents/{issued.id}", f"/customers/{issued.customer_id}", "/account"):
        answer = browser.get(f"{path}{tail}")
        assert answer.status_code == 404
        assert answer["Cache-Control"] == "no-store"
        assert str(issued.number) not in answer.content.decode()


# Whether the keys of lists and of the review are off, and what was typed into drafts, sealed.
KEEPING = {"lists.js", "review.js", "kept.js"}


@pytest.mark.sqlite
def test_three_scripts_of_ours_keep_something_in_the_browser():
    scripts = [path for room in ROOMS for path in (PROJECT_FOLDER / room).rglob("*.js")]
    assert len(scripts) >= 3
    pages = [path for room in ROOMS for path in (PROJECT_FOLDER / room).rglob("*.html")]
    found = [path.name for path in scripts + pages if BROWSER_STORAGE.search(_read(path))]
    assert sorted(found) == sorted(KEEPING)


@pytest.mark.django_db
def test_messages_to_people_stand_in_the_session_and_not_in_a_cookie(owner, sign_in):
    browser = sign_in(owner)
    assert browser.post("/admin/agent_access/accesssettings/stop/").status_code == 302
    [session] = Session.objects.all()
    assert "Agent access was off already." in session.get_decoded()["_messages"]
    assert [*browser.cookies] == [settings.SESSION_COOKIE_NAME]


@pytest.mark.sqlite
def test_no_table_and_no_other_page_has_a_place_for_files():
    fields = [field for model in apps.get_models() for field in model._meta.get_fields()]
    assert [field for field in fields if isinstance(field, FileField)] == []
    pages = [path for room in ROOMS for path in (PROJECT_FOLDER / room).rglob("*.html")]
    assert [path for path in pages if 'type="file"' in _read(path)] == []


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
