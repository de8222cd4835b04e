"""The review page as a person meets it."""

import re
from html import unescape
from typing import Any

from django.test import Client

from agent_access.approvals.models import ApprovalRequest
from tests.approvals import Prepared


def path_of(prepared: Prepared) -> str:
    return f"/approvals/{prepared.approval.id}"


def decision_of(prepared: Prepared) -> str:
    return ApprovalRequest.objects.get(pk=prepared.approval.pk).decision


def read(answer: Any, *, since: str = "<main") -> str:
    """Return the text of the page's content as a person reads it, from the first such tag on."""
    page: str = answer.content.decode()
    main = since + page.split(since, 1)[1].split("</main>", maxsplit=1)[0]
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", main)).split())


def send(browser: Client, prepared: Prepared, decision: str, **changes: Any) -> Any:
    form = {"decision": decision, "fingerprint": prepared.approval.fingerprint, "reason": ""}
    return browser.post(path_of(prepared), form | changes)
