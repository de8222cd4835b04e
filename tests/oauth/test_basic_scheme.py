"""Clients that name themselves by HTTP Basic, with an empty secret, as Go's oauth2 package does."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import quote_plus

import pytest
from django.utils import timezone
from typing_extensions import override

from agent_access.models import AuditEvent
from agent_access.oauth.models import Application
from tests.agents import Answer
from tests.interface.refusals import nothing_changes
from tests.oauth.endings import reason_of
from tests.oauth.programs import Program, parameters_of, refusal_of

pytestmark = (
    pytest.mark.sqlite
)  # who is named is read from a header; tokens are asked on both databases

CHALLENGE = 'Basic realm="OAuth clients"'
DOCUMENT = "https://client.example/oauth/client.json"


def encode(text: str, *, scheme: str = "Basic") -> str:
    return f"{scheme} {base64.b64encode(text.encode()).decode()}"


@dataclass
class HeaderProgram(Program):
    """Sends an Authorization header, and no `client_id` in the form unless it has one."""

    authorization: str = ""

    @override
    def post_form(self, path: str, fields: Mapping[str, Any], **more: Any) -> Answer:
        sent = dict(fields, client_id=self.client_id or None)
        return super().post_form(path, sent, headers={"Authorization": self.authorization}, **more)


@pytest.mark.parametrize("scheme", ["Basic", "basic", "BASIC"])
@pytest.mark.parametrize("is_in_form", [False, True])
@pytest.mark.parametrize("secret", ["", "made-up"])
def test_a_client_named_by_basic_exchanges_refreshes_and_revokes(
    program, code, scheme, is_in_form, secret
):
    named = HeaderProgram(
        client_id=program.client_id if is_in_form else "",
        authorization=encode(f"{program.client_id}:{secret}", scheme=scheme),
    )
    first = named.exchange(code)
    second = named.refresh(first.body["refresh_token"])
    revoked = named.revoke(second.body["refresh_token"])
    assert [answer.status for answer in (first, second, revoked)] == [200, 200, 200]
    assert not AuditEvent.objects.filter(action="token_request:refused").exists()
    assert program.refresh(second.body["refresh_token"]).body["error"] == "invalid_grant"


@pytest.mark.parametrize("written", [quote_plus(DOCUMENT), DOCUMENT], ids=["encoded", "plain"])
def test_a_client_known_by_its_document_is_named_by_basic(program, browser, delegate, written):
    fresh_until = timezone.now() + timedelta(hours=1)
    Application.objects.update(
        client_id=DOCUMENT, registration_source="cimd", cimd_expires_at=fresh_until
    )
    program.client_id = DOCUMENT
    code = parameters_of(browser.allow(program.authorize_path(), delegate))["code"]
    assert HeaderProgram(authorization=encode(f"{written}:")).exchange(code).status == 200


UNUSABLE = [
    *map(encode, ("nobody:", "nobody:made-up", ":", "", "%00:", "a\0b:", "%ff:", "ä:")),
    *("Basic", "Basic ", "Basic !!!", "Basic bm9ib2R5Og", "Basic ä", f"Basic {'QUFB' * 3000}"),
]


@pytest.mark.parametrize("is_in_form", [False, True])
def test_basic_that_names_no_client_or_another_one_is_refused_in_its_own_scheme(
    clock, program, code, subtests, is_in_form
):
    """RFC 6749 section 5.2: the challenge matches the scheme that the client used."""
    client_id = program.client_id if is_in_form else ""
    with nothing_changes():
        for authorization in UNUSABLE:
            with subtests.test(authorization=authorization[:40]):
                wrong = HeaderProgram(client_id=client_id, authorization=authorization)
                for answer in (wrong.exchange(code), wrong.revoke(code)):
                    assert refusal_of(answer) == (401, "invalid_client")
                    assert answer.headers["WWW-Authenticate"] == CHALLENGE
                    assert answer.headers["Cache-Control"] == "no-store"
    assert AuditEvent.objects.filter(action="token_request:refused").count() == 1
    assert program.exchange(code).status == 200


def test_a_form_and_basic_that_name_two_known_clients_are_refused(
    program, register_program, code, pair
):
    other = register_program("https://other.example/")
    both = HeaderProgram(client_id=program.client_id, authorization=encode(f"{other.client_id}:"))
    assert refusal_of(both.refresh(pair["refresh_token"])) == (401, "invalid_client")
    assert program.refresh(pair["refresh_token"]).status == 200


@pytest.mark.requirement("sign_in.reuse")
def test_a_used_code_ends_its_connection_whoever_basic_names(program, code, browser_connection):
    nobody = HeaderProgram(authorization=encode("nobody:"))
    assert refusal_of(nobody.exchange(code)) == (400, "invalid_grant")
    assert reason_of(browser_connection) == "code_reuse"


@pytest.mark.parametrize("authorization", ["Bearer x", "Digest x", "Basicx", "", "bm9ib2R5Og=="])
def test_other_schemes_mean_nothing(program, code, authorization):
    stranger = HeaderProgram(client_id="nobody", authorization=authorization)
    answer = stranger.exchange(code)
    assert answer.status == 401
    assert answer.headers["WWW-Authenticate"] == 'Bearer error="invalid_client"'
    known = HeaderProgram(client_id=program.client_id, authorization=authorization)
    assert known.exchange(code).status == 200
