"""Schemathesis follows the links of the OpenAPI document, while a person approves and edits.

Its state machine draws calls from the document. The rules that are added here are what people do
meanwhile; what the agent did so far is kept, so that each answer can be judged by it.
"""

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any
from unittest.mock import patch

import schemathesis
from django.db import transaction
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule
from schemathesis import Case, Response
from schemathesis.config import SchemathesisConfig
from schemathesis.transport.wsgi import WSGITransport

from agent_access.approvals.errors import ApprovalStateError
from agent_access.approvals.models import Decision
from agent_access.verification import find_breaks
from config.wsgi import application
from invoicing.models import Document
from tests.agents import HOST
from tests.fuzzing.document_run import JUDGED, describe_as_listed, send_what_is_taken
from tests.fuzzing.effort import tally, try_hard
from tests.hostile.target import kept_connection
from tests.interface.issuing import decide

Told = dict[str, Any]

# What a link gives beside the ID: the fields of the body that the answer before has.
BODIES = {
    "drafts_update": {"lock_version": "$response.body#/data/lock_version"},
    "documents_issue_prepare": {"lock_version": "$response.body#/data/lock_version"},
    "documents_issue": {"nonce": "$response.body#/data/nonce"},
}


def call_in_the_tests_transaction(
    environ: Told, start_response: Callable[..., Any]
) -> Iterable[bytes]:
    ours = {"HTTP_HOST": HOST, "wsgi.url_scheme": "https"}
    with kept_connection():
        response = application(environ | ours, start_response)
        try:
            return [b"".join(response)]
        finally:
            getattr(response, "close", lambda: None)()


def describe_journeys(customers: list[str]) -> Told:
    """Return the document with the bodies of its links, and with customers that are there."""
    document = describe_as_listed()
    for name in ("DraftInput", "DraftUpdateInput"):
        document["components"]["schemas"][name]["properties"]["customer_id"]["enum"] = customers
    for path in document["paths"].values():
        for operation in path.values():
            for answer in operation["responses"].values():
                for name, link in answer.get("links", {}).items():
                    # Only the preparation tells the nonce; reading the approval leads on, too.
                    if name in BODIES:
                        link["requestBody"] = BODIES[name]
    return document


class People:
    """What is added to the machine that schemathesis makes: people, and an eye on the books."""

    credential: str

    def setup(self) -> None:
        self.atomic = transaction.atomic()
        self.atomic._from_testcase = True  # type: ignore[attr-defined]  # the views require to be outermost
        self.atomic.__enter__()
        self.prepared: list[Told] = []
        self.approved: set[str] = set()
        self.executed: set[str] = set()

    def teardown(self) -> None:
        tally["journeys"] += 1
        try:
            assert list(find_breaks()) == []
        finally:
            transaction.set_rollback(True)
            self.atomic.__exit__(None, None, None)

    def get_call_kwargs(self, case: Case[Any]) -> Told:
        return {"headers": {"Authorization": f"Bearer {self.credential}"}}

    def after_call(self, response: Response, case: Case[Any]) -> None:
        super().after_call(response, case)  # type: ignore[misc]  # that of the machine
        tally["calls of journeys"] += 1
        if response.status_code >= HTTPStatus.MULTIPLE_CHOICES:
            return
        name = case.operation.definition.raw["operationId"]
        if name == "documents_issue_prepare":
            self.prepared.append(response.json()["data"])
        if name == "documents_issue":
            self.note_issue(response.json()["data"])

    def note_issue(self, told: Told) -> None:
        """Nothing is issued but by an approval of the person, which works once."""
        assert told["approval_id"] in self.approved
        self.executed.add(told["approval_id"])
        assert told["number"] == told["document"]["number"]

    @rule(which=st.integers(0, 5), decision=st.sampled_from(["approved"] * 3 + ["rejected"]))
    def decide_as_the_person(self, which: int, decision: str) -> None:
        if not self.prepared:
            return
        told = self.prepared[which % len(self.prepared)]
        try:
            decide(told, Decision(decision))
        except ApprovalStateError:
            return
        if decision == "approved":
            self.approved.add(told["approval_id"])

    @invariant()
    def every_number_has_its_approval(self) -> None:
        numbers = Document.objects.exclude(number=None).values_list("number", flat=True)
        assert len({*numbers}) == len(numbers) == len(self.executed)


def run_journeys(credential: str, customers: list[str], *, examples: int, steps: int) -> None:
    """Walk so many journeys; raise what is wrong with the first that shows it."""
    settings = SchemathesisConfig.from_dict(
        {
            "base-url": f"https://{HOST}",
            "generation": {"database": "none"},
            # Each call has the credential, whatever header is drawn. The run of the document asks
            # without one, and looks at what violates the schema, which a URL does not always show.
            "checks": {
                **JUDGED,
                "ignored_auth": {"enabled": False},
                "negative_data_rejection": {"enabled": False},
            },
        }
    )
    schema = schemathesis.openapi.from_dict(describe_journeys(customers), config=settings)
    schema.app = call_in_the_tests_transaction
    drawn = schema.as_state_machine()
    machine: Any = type("Journeys", (People, drawn), {"credential": credential})
    with patch.object(WSGITransport, "send", send_what_is_taken):
        machine.run(settings=try_hard(examples, long=20, stateful_step_count=steps))
