"""What is kept, told to programs or taken out is the same, in whichever language a person reads.

In the language of these tests each translated text differs from the English one.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from agent_access.approvals.models import ApprovalRequest
from agent_access.models import AuditEvent
from invoicing.models import Document
from invoicing.services.drafts import ConnectionRef
from tests.approvals import prepare
from tests.factories import make_draft, make_issued
from tests.invoicing.exports.files import download
from tests.stretched import LANGUAGE, offer, speak
from tests.web.forms import main_of
from tests.web.reviews import path_of, send

LANGUAGES = ("en", LANGUAGE)
# Of a draft or its facts, which are others each time.
ID = re.compile(r"[0-9a-f-]{32,}")


@pytest.fixture(autouse=True)
def _stretched(tmp_path: Path, settings: Any) -> None:
    offer(settings, tmp_path)


def test_the_language_is_one_in_which_pages_differ(desk, delegate):
    shown = []
    for language in LANGUAGES:
        speak(delegate, language)
        shown.append(main_of(desk.get("/account")))
    assert shown[0] != shown[1]


@pytest.mark.parametrize("kind", ["documents", "lines"])
def test_an_export_has_the_same_bytes(desk, delegate, customer, kind):
    make_issued(customer=customer)
    files = []
    for language in LANGUAGES:
        speak(delegate, language)
        files.append(download(desk, kind))
    assert files[0] == files[1]
    assert b"Invoice" in files[0]


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_a_decision_is_kept_the_same(desk, delegate, customer, connection, decision):
    kept, agent = [], ConnectionRef(connection.pk, "Ledger agent")
    for language in LANGUAGES:
        speak(delegate, language)
        asked = prepare(make_draft(customer=customer), user=delegate, connection=agent)
        assert asked.approval.fingerprint in desk.get(path_of(asked)).content.decode()
        answer = send(desk, asked, decision, reason="too much")
        row = ApprovalRequest.objects.get(pk=asked.approval.pk)
        events = AuditEvent.objects.filter(request_id=answer["X-Request-Id"])
        kept.append(
            [
                (row.kind, row.decision, row.rejection_reason, row.demand, row.result),
                [
                    (each.action, each.outcome, ID.sub("", each.detail), each.transport)
                    for each in events
                ],
            ]
        )
    assert kept[0] == kept[1]
    assert kept[0][0][1]


def test_a_draft_that_a_person_writes_is_kept_the_same(writer_desk, writer, filled):
    kept = []
    for language in LANGUAGES:
        speak(writer, language)
        assert writer_desk.post("/documents/new", {**filled, "save": ""}).status_code == 302
        document = Document.objects.latest("pk")
        own = {"id", "created_at", "updated_at", "draft_code"}
        values = {name: value for name, value in vars(document).items() if name not in own}
        kept.append({name: value for name, value in values.items() if not name.startswith("_")})
    assert kept[0] == kept[1]


def test_an_issued_document_looks_the_same_on_its_paper(desk, delegate, customer):
    def paper_of(browser: Client) -> str:
        page: str = browser.get(f"/documents/{issued.pk}").content.decode()
        return page.split('class="card paper', 1)[1].split("</article>", maxsplit=1)[0]

    issued = make_issued(customer=customer, language="de")
    papers = []
    for language in LANGUAGES:
        speak(delegate, language)
        papers.append(paper_of(desk))
    assert papers[0] == papers[1]
    assert "Rechnung" in papers[0]
