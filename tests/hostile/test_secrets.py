"""Credentials are nowhere: in no column, in no log line and in no answer."""

import logging
from typing import Any

import pytest
from django.db import connection

from agent_access.credentials import PREFIX, digest_credential
from invoicing.services import drafts
from tests.hostile.target import Target
from tests.secrets import LogWatch


def dump_database() -> str:
    """Return every value of every column of every table, as text."""
    rows: list[Any] = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608  our own tables
            rows += cursor.fetchall()
    return str(rows)


def call_everything(target: Target) -> list[bytes]:
    """Call well, badly, and with the credential in every place where it does not belong."""
    agent, credential = target.agent, str(target.agent.credential)
    bearer = f"Bearer {credential}"
    body = target.body_for("drafts.create")
    update = target.body_for("drafts.update")
    answers = [
        *(agent.call(tool) for tool in ("tools.list", "customers.search", "documents.list")),
        *(agent.call(tool) for tool in ("people.list", "teams.list")),
        agent.call("documents.get", id=target.draft_id),
        agent.call("people.get", id=credential),
        agent.call("documents.preview", body),
        agent.call("drafts.create", body, key="one"),
        agent.call("drafts.create", body, key="one"),
        agent.call("drafts.update", update, id=target.draft_id, key="two"),
        agent.call("drafts.update", update, id=target.draft_id, key="three"),
        agent.call("drafts.create", body | {credential: credential}, key="four"),
        agent.call("drafts.create", body, key=f"{credential} {credential}"),
        agent.call("documents.list", {"search": credential, credential: credential}),
        target.request("GET", f"/api/v1/{credential}"),
        target.request("GET", f"/api/v1/documents/{credential}"),
        target.request("GET", "/api/v1/tools", HTTP_X_REQUEST_ID=credential),
        target.request("GET", "/api/v1/tools", HTTP_USER_AGENT=credential, HTTP_REFERER=bearer),
        target.request("GET", "/api/v1/tools", HTTP_HOST=credential, HTTP_ORIGIN=bearer),
        target.request("GET", "/api/v1/tools", REMOTE_ADDR=credential),
        target.request("GET", "/api/v1/tools", HTTP_AUTHORIZATION=f"{bearer} {bearer}"),
        target.send("drafts.create", credential.encode(), CONTENT_TYPE=credential),
        target.send("drafts.create", f'{{"{credential}": '.encode()),
    ]
    return [answer.content + str(answer.headers).encode() for answer in answers]


@pytest.mark.requirement("error.no_leaks", "connection.credential")
def test_a_credential_is_kept_as_a_digest_and_never_given_back(target):
    credential = target.agent.credential
    answers = call_everything(target)
    stored = dump_database()
    assert digest_credential(credential) in stored
    for leak in (credential, credential.removeprefix(PREFIX)):
        assert leak not in stored
        assert not any(leak.encode() in answer for answer in answers)


@pytest.mark.requirement("error.no_leaks", "error.unavailable")
def test_the_trace_of_a_bug_shows_no_credential(target, settings, monkeypatch, caplog, log_watch):
    settings.AGENT_ACCESS |= {"RAISE_UNFORESEEN": False}

    def fail(*args: object, **options: object) -> None:
        raise RuntimeError(*args, options)

    monkeypatch.setattr(drafts, "create_draft", fail)
    answer = target.send_json("drafts.create", target.body_for("drafts.create"))
    assert answer.status == 503
    assert "RuntimeError" in caplog.text
    assert target.agent.credential.removeprefix(PREFIX) in log_watch.secrets
    assert log_watch.find_leaks() == []


@pytest.mark.parametrize("level", [logging.INFO, logging.ERROR])
def test_a_credential_in_a_log_line_would_be_found(monkeypatch, level):
    watch = LogWatch()
    first, second = watch.make_credential(), watch.make_credential()
    logger = logging.getLogger("tests.secrets")
    monkeypatch.setattr(logger, "propagate", False)
    monkeypatch.setattr(logger, "handlers", [watch])

    logger.log(level, "nothing %s", "x" * 43)
    assert watch.find_leaks() == []
    logger.log(level, "header %s", f"Bearer {first}")
    logger.log(level, "a bug", exc_info=RuntimeError(second.removeprefix(PREFIX)))

    leaks = watch.find_leaks()
    assert len(leaks) == 2
    assert first in leaks[0]
