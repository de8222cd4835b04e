"""What the caller of an act is told, as one line that two runs of it share."""

import json
from collections.abc import Callable
from typing import Any

from django.core.exceptions import ObjectDoesNotExist, PermissionDenied, ValidationError
from django.http import Http404, HttpResponse
from oauthlib.oauth2 import OAuth2Error

from tests.agents import Answer

FAULT = "FAULT"
DONE = "done"
GRANTED = (DONE, "200", "201", "202", "302")
SIGNED_OUT = "signed out"  # and asked to sign in
LEAST_FAULT = 500
LEAST_REFUSAL = 400

# What pages and programs are refused with, beside the errors of our own apps.
REFUSALS = (ValidationError, PermissionDenied, Http404, OAuth2Error)
OWN = ("invoicing.", "agent_access.", "mcp_gateway.")


def answer_of(act: Callable[[], Any]) -> str:
    """Run the act; return "done", what refused it, or, after FAULT, what must reach no caller."""
    try:
        told = act()
    except Exception as error:  # noqa: BLE001  any of them is an answer
        return _name_error(error)
    match told:
        case str():
            return told
        case Answer():
            return _name_answer(told.status, told.content, told.headers)
        case HttpResponse():
            return _name_answer(told.status_code, told.content, told.headers)
    return DONE


def _name_error(error: Exception) -> str:
    kind = type(error)
    is_own = kind.__module__.startswith(OWN) and not isinstance(error, ObjectDoesNotExist)
    name = kind.__name__
    if is_own or isinstance(error, REFUSALS):
        return name
    cause = f" of {type(error.__cause__).__name__}" if error.__cause__ else ""
    return f"{FAULT}: {name}{cause}: {str(error).partition(chr(10))[0]}"


def _name_answer(status: int, content: bytes, headers: Any) -> str:
    if status >= LEAST_FAULT:
        return f"{FAULT}: {status} {content[:200]!r}"
    if status < LEAST_REFUSAL:
        location = headers.get("Location", "")
        return SIGNED_OUT if location.startswith("/sign-in?") else f"{status} {location}".strip()
    is_json = headers.get("Content-Type", "").startswith("application/json")
    error = json.loads(content).get("error", "") if is_json else ""
    return f"{status} {error['code'] if isinstance(error, dict) else error}".strip()


def is_refusal(answer: str) -> bool:
    """Return whether the act was refused, in whichever words."""
    return not answer.startswith(GRANTED)
