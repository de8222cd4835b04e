"""A permission that is withdrawn while a body still comes is missing when it has come."""

import io
import json
from typing import Any

from typing_extensions import override

from agent_access import admission, execution
from agent_access.execution import FRESH_SECONDS
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


def test_a_permission_withdrawn_meanwhile_is_missing(agent, delegate, draft_body, monkeypatch):
    clock = [1000.0]
    for module in (admission, execution):
        monkeypatch.setattr(module, "monotonic", lambda: clock[0])

    def withdraw() -> None:
        delegate.user_permissions.clear()
        clock[0] += FRESH_SECONDS + 0.1

    body = json.dumps(draft_body).encode()
    answer = agent.request(
        "POST",
        "/api/v1/drafts",
        body=body,
        headers={"Idempotency-Key": "one"},
        **{"wsgi.input": SlowBody(body, withdraw)},
    )
    assert (answer.status, answer.code) == (403, "forbidden")
    assert not Document.objects.exists()
