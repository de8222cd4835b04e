"""A person leaves another project, and then agent access itself does."""

import sqlite3
from contextlib import closing

import pytest

from tests.hosts.new.conftest import Project

# What the triggers keep on both databases is asked by their own tests.
pytestmark = pytest.mark.sqlite

SETTINGS = "notes.settings_with_approvals"

NOTES = "/api/v1/notes"

PERSON = """
from django.contrib.auth import get_user_model
from django.db.models import ProtectedError
from notes.people import anonymise
person = get_user_model().objects.get(username={name!r})
"""
FIND = "from agent_access.models import Connection\n"
DELETE = """
try:
    person.delete()
except ProtectedError:
    print("protected")
else:
    print("deleted")
"""


def run(project: Project, name: str, code: str) -> str:
    return project.run(PERSON.format(name=name) + code)


def test_a_person_who_is_anonymised_ends_their_agents_and_leaves_evidence_that_verifies(project):
    connection_id, agent = project.connect("notes:read", "notes:write")
    key = {"Idempotency-Key": "key"}
    written = project.request("POST", NOTES, {"text": "Milk"}, headers=agent | key)
    assert written.status == 201
    heads = project.folder / "heads.txt"
    heads.write_text(project.manage("verify_audit"), encoding="utf-8")
    assert f"{connection_id} 1 " in heads.read_text(encoding="utf-8")

    assert run(project, "nora", DELETE) == "protected\n"
    assert project.request("GET", NOTES, headers=agent).status == 200

    pk = run(project, "nora", "anonymise(person)\nprint(person.pk)").strip()
    refused = project.request("GET", NOTES, headers=agent)
    assert (refused.status, refused.code) == (401, "unauthenticated")
    told = f"{FIND}print(Connection.objects.get(user=person).revoked_reason)"
    assert run(project, f"gone-{pk}", told) == ("user_deactivated\n")
    now = project.manage("verify_audit", "--expect", str(heads))
    assert f"{connection_id} 2 " in now
    assert run(project, f"gone-{pk}", DELETE) == "protected\n"
    with closing(sqlite3.connect(project.database)) as database:
        rows = database.execute("SELECT username, first_name, email, is_active FROM notes_user")
        assert (f"gone-{pk}", "", "", 0) in rows.fetchall()


CONNECT = """
from agent_access.connections import ConnectionRequest, create_connection
users = get_user_model().objects
otto, nils = users.create_superuser("otto"), users.create_user("nils")
request = ConnectionRequest(user=nils, scopes=["notes:read"], days=1, name="Nils", approver=otto)
print(create_connection(request)[1])
"""


def test_a_connection_ends_once_whoever_approved_it_is_deleted(project):
    agent = {"Authorization": f"Bearer {run(project, 'olga', CONNECT).strip()}"}
    assert project.request("GET", "/api/v1/tools", headers=agent).status == 200
    assert run(project, "otto", DELETE) == "deleted\n"
    assert project.request("GET", "/api/v1/tools", headers=agent).status == 401
    told = f"{FIND}print(Connection.objects.get(user=person).revoked_reason)"
    assert run(project, "nils", told) == "owner_changed\n"


@pytest.mark.prove
def test_agent_access_leaves_nothing_in_the_database_once_it_was_migrated_away(make_project):
    project = make_project(SETTINGS)
    project.connect("notes:read")
    note = "Note.objects.create(owner=person, text='Milk')"
    run(project, "nora", f"from notes.models import Note\n{note}")
    project.manage("agent_access", "off")
    for app in ("agent_approvals", "agent_oauth", "agent_access"):
        project.manage("migrate", app, "zero", "--verbosity", "0")
    project.close()
    left = "SELECT name FROM sqlite_master WHERE sql LIKE '%agent\\_%' ESCAPE '\\'"
    with closing(sqlite3.connect(project.database)) as database:
        assert database.execute(left).fetchall() == []
        assert database.execute("SELECT text FROM notes_note").fetchall() == [("Milk",)]
