"""The logs of a run are searched for its secrets, also for those that stand in other text."""

from pathlib import Path

import pytest

from tests.breaking.leaks import collect_secrets, find_leaks

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

FACTS = {
    "clients": [
        {
            "credential": "ivc_a-credential-of-an-agent",
            "password": "a-password-of-a-person",
            "passkey": {"key": "a-private-key-of-a-person", "credential_id": "known-to-everybody"},
        }
    ],
    "askers": [],
    "staff": {},
}
HEARD = {("a cookie", "a-session-that-was-begun:behind"), ("a code", "short")}
JOURNAL = r'{"reply": {"body": "{\\"nonce\\":\\"a-nonce-of-an-approval\\"}"}}'
LOGS = {
    "GET /documents 200, known-to-everybody": 0,
    "Authorization: Bearer ivc_a-credential-of-an-agent": 1,
    "sessionid=a-session-that-was-begun%3Abehind; path=/": 1,
    "a-private-key-of-a-person": 1,
    "('a-password-of-a-person',)": 1,
    '{"nonce": "a-nonce-of-an-approval"}': 1,
}


@pytest.mark.parametrize(("line", "expected"), LOGS.items(), ids=LOGS)
def test_a_log_is_searched_for_each_kind_of_secret(tmp_path: Path, line, expected):
    (tmp_path / "client.jsonl").write_text(JOURNAL, encoding="utf-8")
    (tmp_path / "servers").mkdir()
    (tmp_path / "servers" / "one.log").write_text(f"begun\n{line}\n", encoding="utf-8")
    secrets = collect_secrets(FACTS, tmp_path, HEARD)

    assert len(find_leaks(tmp_path, secrets)) == expected
