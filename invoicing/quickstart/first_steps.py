"""The first walk of a person and an agent: lines to paste into a shell, for one connection."""

import shlex
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from django.template.loader import render_to_string


@dataclass(frozen=True, kw_only=True)
class FirstSteps:
    """What the lines depend on: where the service is, a connection, and how a customer is found.

    `authority` is the certificate authority that only this machine knows, if there is one.
    """

    base_url: str
    credential: str
    grants: Collection[str]
    query: str = "limit=1"
    authority: Path | None = None

    def write_secrets(self) -> str:
        """Return the first lines, which set what only this connection and this machine have."""
        trust = f"CA={shlex.quote(str(self.authority))}\n" if self.authority else ""
        return f"CREDENTIAL={self.credential}\n{trust}"

    def write(self) -> str:
        """Return the lines that follow them, as far as the grants reach."""
        return self._render("invoicing/first_steps.sh")

    def write_for_mcp(self) -> str:
        """Return the lines for Claude Code and the Inspector, for the same shell."""
        return self._render("invoicing/first_steps_mcp.sh")

    def _render(self, template: str) -> str:
        values = {**vars(self), "base_url": shlex.quote(self.base_url)}
        return f"{render_to_string(template, values).strip()}\n"
