"""What is withdrawn while a body still comes is missing when it has come."""

import io
import json
from typing import Any

import pytest
from typing_extensions import override

from agent_access import admission, execution
from agent_access.execution import FRESH_SECONDS
from agent_access.models import AccessSettings
from invoicing.models import Document


class SlowBody(io.BytesIO):
    """Lets something happen before the first byte comes."""

    def __init__(self, body: bytes, meanwhile) -> None:
        super().__init__(body)
        self.meanwhile = meanwhile

    @override
    def read(self, *args: Any) -> bytes:
        self.meanwhile()
        return super().read(*args)


@pytest.mark.parametrize(
    ("withdraw", "code"),
    [
        (lambda person: person.user_permissions.clear(), "forbidden"),
        (lambda _: AccessSettings.objects.update(modules_off=["invoices"]), "not_found"),
    ],
    ids=["permission", "module"],
)
@pytest.mark.parametrize("path", ["/drafts", "/documents/preview"])
def test_what_is_withdrawn_meanwhile_is_missing(  # noqa: PLR0917  fixtures
    agent, delegate, draft_body, monkeypatch, withdraw, code, path
):
    clock = [1000.0]
    for module in (admission, execution):
        monkeypatch.setattr(module, "monotonic", lambda: clock[0])

    def withdraw_and_wait() -> None:
        withdraw(delegate)
        clock[0] += FRESH_SECONDS + 0.1

    body = json.dumps(draft_body).encode()
    answer = agent.request(
        "POST",
        f"/api/v1{path}",
        body=body,
        headers={"Idempotency-Key": "one"} if path == "/drafts" else {},
        **{"wsgi.input": SlowBody(body, withdraw_and_wait)},
    )
    assert answer.code == code
    assert not Document.objects.exists()
