"""One run of schemathesis over the OpenAPI document, against the real application."""

import json
from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from typing import Any
from unittest.mock import patch

import schemathesis
from django.db import connections
from schemathesis import Case, CheckContext, Response
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import Failure
from schemathesis.engine import events, from_schema
from schemathesis.schemas import BaseSchema
from schemathesis.transport.wsgi import WSGITransport

from agent_access import conf
from agent_access.openapi import describe_api
from agent_access.tools import registry
from config.wsgi import application
from invoicing.totals import BASIS_POINTS
from tests.agents import HOST
from tests.fuzzing.effort import tally

Told = dict[str, Any]

# What JSON Schema cannot say, each with its reason; nothing else may refuse what the schema allows.
UNSAYABLE = {
    # two fields at once
    "must not be before the issue date",
    "goes together with the discount type: send both or neither",
    f"must be at most {BASIS_POINTS} basis points (100 %)",
    "must not be larger than quantity times unit price",
    "lead to an amount of more than 18 digits",
    # a record that exists or not
    "is not an active customer within reach",
    # texts are looked at as they will be kept: without white space around them
    "must not be empty",
    "must not contain control characters",
    # to JSON Schema 1.0 is an integer; to receipts it is another value than 1
    "must be an integer",
}


def describe_as_listed() -> Told:
    """Return the document with the schemas that GET tools gives today: rates and currencies too."""
    document: Told = json.loads(json.dumps(describe_api()))
    fill = conf.policy().schema_filler()
    for tool in registry:
        if tool.takes_body:
            schema = json.loads(json.dumps(fill(tool, tool.input_schema)))
            document["components"]["schemas"][tool.input.__name__] = schema
    return document


def call_over_https(environ: Told, start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Call the application as at its own address, where werkzeug's client says localhost."""
    try:
        ours = {"HTTP_HOST": HOST, "wsgi.url_scheme": "https"}
        return application(environ | ours, start_response)
    finally:
        connections.close_all()  # schemathesis calls from threads of its own


send_all = WSGITransport.send


def send_what_is_taken(
    transport: WSGITransport, case: Case[Any], *, session: Any = None, **settings: Any
) -> Response:
    """Leave out what the transport chokes on when a check asks again without the credential."""
    for name in ("max_redirects", "verify", "cert"):
        settings.pop(name, None)
    return send_all(transport, case, session=session, **settings)


@schemathesis.check
def refused_for_what_no_schema_says(
    context: CheckContext, response: Response, case: Case[Any]
) -> bool | None:
    """Hold a 422 to a schema-valid call to the list of reasons; `positive_data_acceptance` cannot.

    A call without a body has no such reason.
    """
    meta = case.meta
    if meta is None or not meta.generation.mode.is_positive:
        return None
    if response.status_code != HTTPStatus.UNPROCESSABLE_ENTITY:
        return None
    problems = {each["problem"] for each in response.json()["error"]["problems"]}
    if problems and problems <= UNSAYABLE and case.method != "GET":
        return None
    raise Failure(
        operation=case.operation.label, title="Undocumented refusal", message=str(problems)
    )


# 422 is judged by the check above, which knows the reasons.
JUDGED = {
    "positive_data_acceptance": {
        "expected-statuses": ["2xx", "401", "403", "404", "409", "410", "422"]
    }
}


def fuzz_document(*, examples: int, seed: int, **more: Any) -> list[str]:
    """Return what schemathesis found, as one text a finding; count what it sent."""
    with patch.object(WSGITransport, "send", send_what_is_taken):
        run = from_schema(_read_schema(examples, seed, more)).execute()
        return [text for event in run for text in _read_event(event)]


def _read_schema(examples: int, seed: int, more: Told) -> BaseSchema:
    config = {
        "seed": seed,
        "base-url": f"https://{HOST}",
        "workers": 1,
        "generation": {"max-examples": examples, "database": "none"},
        "cache": {"enabled": False},
        "continue-on-failure": True,
        "checks": JUDGED,
    }
    settings = SchemathesisConfig.from_dict(config | more)
    schema = schemathesis.openapi.from_dict(describe_as_listed(), config=settings)
    schema.app = call_over_https
    return schema


def _read_event(event: events.EngineEvent) -> Iterator[str]:
    if isinstance(event, events.FatalError):
        raise event.exception
    if isinstance(event, events.NonFatalError):
        yield f"{event.label}: {event.value!r}"
    if isinstance(event, events.EngineFinished):
        yield from map(str, event.failures)
    if isinstance(event, events.ScenarioFinished):
        tally["schemathesis"] += len(event.recorder.interactions)
        for nodes in event.recorder.checks.values():
            for failed in (node.failure_info for node in nodes if node.failure_info):
                yield f"{failed.failure.title}: {failed.failure.message}\n{failed.code_sample}"
