"""Paths that are nearly one of ours."""

from uuid import uuid4

import pytest

from agent_access.models import AuditEvent
from tests.hostile.target import assert_refused

# What is read here asks no database.
pytestmark = [pytest.mark.usefixtures("nothing_changes"), pytest.mark.sqlite]

# tests/interface has those that a client of HTTP would send.
NOWHERE = [
    *("/api/v1//", "/api/v1//tools", "/api/v1/tools\x00", "/api/v1/tools\n", "/api/v1/\n"),
    *("/api/v1/\n/tools", "/api/v1/tools\r\nX-Injected: 1", "/api/v1/tools;x=1"),
    *("/api/v1/tools%2e", "/api/v1/../v1/tools", "/api/v1/./tools", "/api/v1/documents/../tools"),
    *("/api/v1/customers/1", "/api/v1/documents/x/lines", "/api/v1/drafts/x/y", "/api/v1/teams/x"),
    *("/api/v1/approvals", "/api/v1/admin", "/api/v1/\xff\xfe", "/api/v1/\xe2\x80\xae"),
    *("/api/v1/" + "x" * 100_000, "/api/v1/" + "x/" * 10_000),
]


@pytest.mark.requirement("error.not_found", "versioning.path_prefix")
def test_every_other_path_is_not_found(target, subtests):
    events = AuditEvent.objects.count()
    for path in NOWHERE:
        for method in ("GET", "POST", "DELETE"):
            with subtests.test(path=ascii(path)[:60], method=method):
                answer = target.request(method, path)
                assert_refused(answer, 404)
                assert "Allow" not in answer.headers
                assert "Location" not in answer.headers
    assert AuditEvent.objects.count() == events


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/v2/tools", "/API/v1", "//api/v1"])
def test_outside_the_tools_there_is_no_data_either(target, path):
    answer = target.request("GET", path)
    assert answer.status == 404
    assert answer.headers["Cache-Control"] == "no-store"
    assert b"Traceback" not in answer.content


def malformed_ids(known: str) -> list[str]:
    return [
        *("x", "0", "-1", "null", "undefined", "NaN", "preview ", "\x00", "\n", "\xff", "%00"),
        *("%2F", "..", "*", "x" * 100_000, f" {known}", f"{known} ", f"{known}\n", f"{known}\x00"),
        *(f"{known},{known}", f"{known}'--", f"{known}0", known[:-1], known.replace("-", "_")),
        known[:-1] + "\u0660".encode().decode("latin-1"),
    ]


@pytest.mark.requirement("error.hidden_like_missing", "error.not_found")
def test_a_malformed_id_is_like_a_missing_record(target, subtests):
    missing = target.request("GET", f"/api/v1/documents/{uuid4()}").content
    body = target.body_for("drafts.update")
    for number, known in enumerate(malformed_ids(str(target.draft_id))):
        with subtests.test(id=ascii(known)[:60]):
            for path in (f"/api/v1/documents/{known}", f"/api/v1/people/{known}"):
                answer = target.request("GET", path)
                assert_refused(answer, 404)
                assert answer.content == missing
            environ = {"PATH_INFO": f"/api/v1/drafts/{known}", "HTTP_IDEMPOTENCY_KEY": f"k{number}"}
            answer = target.send_json("drafts.update", body, **environ)
            assert_refused(answer, 404)
            assert answer.content == missing


def test_a_malformed_id_leaves_nothing_in_the_audit(target, connection):
    target.request("GET", "/api/v1/documents/' OR 1=1 --")
    event = AuditEvent.objects.get(chain=str(connection.id))
    assert (event.action, event.target, event.outcome) == ("documents.get", "", "not_found")


@pytest.mark.parametrize("method", ["get", "post", "Post", "PATCH", "FOO", "GET ", "", "CONNECT"])
def test_another_method_is_not_allowed(target, method):
    answer = target.request(method, "/api/v1/drafts")
    assert_refused(answer, 405)
    assert answer.headers["Allow"] == "POST"


@pytest.mark.usefixtures("sign_in_on")
@pytest.mark.parametrize("method", ["get", "post", "Head"])
@pytest.mark.parametrize("path", ["/", "/sign-in", "/documents", "/admin/", "/oauth/authorize"])
def test_a_page_is_not_shown_to_a_method_in_another_case(target, method, path):
    answer = target.request(method, path)
    status = 405 if path.startswith("/oauth/") else 403
    assert (answer.status, "Set-Cookie" in answer.headers) == (status, False)
