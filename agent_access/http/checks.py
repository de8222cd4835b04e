"""The system check of the actions that are to be tools: what cannot be one is left out."""

from typing import Any

from django.core import checks

_found: list[checks.CheckMessage] = []


class UnsupportedActionError(Exception):
    """Why an action cannot be a tool: a text that goes on after its name, and what to do."""

    def __init__(self, number: str, text: str, hint: str) -> None:
        super().__init__(text)
        self.number, self.text, self.hint = number, text, hint


def report(reason: UnsupportedActionError, *, viewset: type[Any], action: str) -> None:
    """Let the check say why an action is no tool."""
    text = f"{viewset.__name__}.{action} is not a tool: it {reason.text}."
    message = checks.Error(text, hint=reason.hint, id=f"agent_access.{reason.number}")
    _found.append(message)


@checks.register
def check_actions(**kwargs: Any) -> list[checks.CheckMessage]:
    """Report each action that `tools_from` had to leave out, so that nothing starts without it."""
    return [*_found]
