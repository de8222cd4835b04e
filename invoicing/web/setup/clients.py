"""The lines that connect each client: the one source of the page, and of docs/clients.md.

As their makers documented them in October 2026.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# A text, or what gettext_lazy makes of one.
Text = str | Promise

CREDENTIAL = "CREDENTIAL=ivc_..."
_SETTINGS = _("Add this to the file %(file)s:")
_SHELL = _("Paste this into a shell:")


@dataclass(frozen=True)
class Block:
    """What to paste, and where; in `text`, @ is the address of the service, without a slash."""

    where: Text
    text: str
    file: str = ""

    def told(self) -> str:
        return str(self.where) % {"file": self.file} if self.file else str(self.where)

    def fill(self, base_url: str) -> str:
        return self.text.replace("@", base_url)


@dataclass(frozen=True, kw_only=True)
class Client:
    """A client, with what to paste so that it signs in by the browser, or sends a credential.

    `then` says what happens after `sign_in`. A `is_remote` one runs at its maker, so that it
    reaches no address of this machine; `trusts_by` is the variable that names another authority.
    """

    key: str
    name: Text
    sign_in: Sequence[Block] = ()
    then: Text = ""
    pasted: Sequence[Block] = ()
    is_remote: bool = False
    trusts_by: str = ""


_CURSOR = """{
  "mcpServers": {
    "invoicing": {
      "url": "@/mcp"
    }
  }
}"""
_CURSOR_PASTED = """{
  "mcpServers": {
    "invoicing": {
      "url": "@/mcp",
      "headers": {"Authorization": "Bearer ${env:CREDENTIAL}"}
    }
  }
}"""
_VS_CODE = """code --add-mcp '{"name": "invoicing", "type": "http", "url": "@/mcp"}'"""
_VS_CODE_PASTED = """{
  "servers": {
    "invoicing": {
      "type": "http",
      "url": "@/mcp",
      "headers": {"Authorization": "Bearer ${input:credential}"}
    }
  },
  "inputs": [
    {"type": "promptString", "id": "credential", "description": "Credential", "password": true}
  ]
}"""
_HTTP = f"""{CREDENTIAL}
curl -sS -H "Authorization: Bearer $CREDENTIAL" @/api/v1/tools
curl -sS -H "Authorization: Bearer $CREDENTIAL" "@/api/v1/customers?limit=1\""""

CLIENTS = (
    Client(
        key="claude-code",
        name="Claude Code",
        sign_in=[Block(_SHELL, "claude mcp add --transport http invoicing @/mcp")],
        then=_("Start claude, type /mcp, and choose invoicing: your browser opens."),
        pasted=[
            Block(
                _SHELL,
                f"{CREDENTIAL}\nclaude mcp add --transport http invoicing @/mcp \\\n"
                '  --header "Authorization: Bearer $CREDENTIAL"',
            )
        ],
        trusts_by="NODE_EXTRA_CA_CERTS",
    ),
    Client(
        key="claude",
        name="Claude",
        sign_in=[
            Block(
                _(
                    "In Claude on the web or the desktop, open Settings, Connectors, Add custom"
                    " connector, and paste this address:"
                ),
                "@/mcp",
            )
        ],
        then=_("Choose Connect: your browser opens."),
        is_remote=True,
    ),
    Client(
        key="chatgpt",
        name="ChatGPT",
        sign_in=[
            Block(
                _(
                    "Turn on the developer mode in Settings, Apps & Connectors, Advanced settings."
                    " Then choose Create, the authentication OAuth, and paste this address:"
                ),
                "@/mcp",
            )
        ],
        then=_("Choose Create: your browser opens."),
        is_remote=True,
    ),
    Client(
        key="cursor",
        name="Cursor",
        sign_in=[Block(_SETTINGS, _CURSOR, file="~/.cursor/mcp.json")],
        then=_("Open Settings, MCP, and choose Connect: your browser opens."),
        pasted=[Block(_SETTINGS, _CURSOR_PASTED, file="~/.cursor/mcp.json")],
        trusts_by="NODE_EXTRA_CA_CERTS",
    ),
    Client(
        key="vs-code",
        name="VS Code",
        sign_in=[Block(_SHELL, _VS_CODE)],
        then=_("Start the server in the list of MCP servers: your browser opens."),
        pasted=[Block(_SETTINGS, _VS_CODE_PASTED, file=".vscode/mcp.json")],
        trusts_by="NODE_EXTRA_CA_CERTS",
    ),
    Client(
        key="codex",
        name="Codex",
        sign_in=[
            Block(_SHELL, "codex mcp add invoicing --url @/mcp\ncodex mcp login invoicing"),
        ],
        then=_("The second line opens your browser."),
        pasted=[
            Block(
                _SHELL,
                f"export {CREDENTIAL}\n"
                "codex mcp add invoicing --url @/mcp --bearer-token-env-var CREDENTIAL",
            )
        ],
        trusts_by="SSL_CERT_FILE",
    ),
    Client(
        key="gemini-cli",
        name="Gemini CLI",
        sign_in=[Block(_SHELL, "gemini mcp add --transport http invoicing @/mcp")],
        then=_("Start gemini and type /mcp auth invoicing: your browser opens."),
        pasted=[
            Block(
                _SHELL,
                f"{CREDENTIAL}\ngemini mcp add --transport http \\\n"
                '  --header "Authorization: Bearer $CREDENTIAL" invoicing @/mcp',
            )
        ],
        trusts_by="NODE_EXTRA_CA_CERTS",
    ),
    Client(
        key="http",
        name=_("Plain HTTP"),
        pasted=[Block(_SHELL, _HTTP)],
        trusts_by="CURL_CA_BUNDLE",
    ),
)


def find_client(key: str) -> Client:
    """Return the client of this key, or the first one."""
    return next((each for each in CLIENTS if each.key == key), CLIENTS[0])


def line_of_trust(client: Client, authority: Path | None) -> str:
    """Return the line by which a shell trusts this machine's own authority; "" without one."""
    if authority is None or not client.trusts_by:
        return ""
    return f"export {client.trusts_by}={shlex.quote(str(authority))}"
