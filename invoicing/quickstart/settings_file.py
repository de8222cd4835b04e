"""The file with the quickstart's settings, which commands in a second shell read too.

This runs before Django's settings are loaded, and so does not import Django.
"""

import argparse
import os
import re
import secrets
from collections.abc import Sequence
from pathlib import Path

from invoicing.quickstart.errors import QuickstartError
from invoicing.quickstart.ports import require_free_port

DEFAULT_PORT = 8443
LAST_PORT = 65535
SECRET_KEY_BYTES = 48
WEB_PUSH_KEY_BYTES = 32


def prepare_settings(file: Path, arguments: Sequence[str]) -> None:
    """Complete the file, and change its BASE_URL if `--port` is another one.

    A BASE_URL in the environment takes precedence, and then the file's is left alone. The folder of
    the file is open to its owner only. Raises QuickstartError.
    """
    port = _read_port(arguments)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.parent.chmod(0o700)
        kept = file.read_text(encoding="utf-8") if file.exists() else ""
        wanted = _complete(kept, port if "BASE_URL" not in os.environ else None)
        if wanted != kept:
            # First, since commands beside a running service read this file.
            require_free_port(_find(wanted, "BASE_URL") or "")
            replace_file(file, wanted.encode())
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise QuickstartError(f"{file} cannot be kept: {reason}.") from None


def _read_port(arguments: Sequence[str]) -> int | None:
    """Return the port of --port, or None; the command itself parses all other arguments."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--port", nargs="?", const="")
    text = parser.parse_known_args(arguments)[0].port
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,5}", text) or not 1 <= int(text) <= LAST_PORT:
        raise QuickstartError(f"--port takes a number from 1 to {LAST_PORT}.")
    return int(text)


def _complete(text: str, port: int | None) -> str:
    base_url = _find(text, "BASE_URL")
    if base_url is None or (port and not base_url.endswith(f":{port}")):
        text = _set(text, "BASE_URL", f"https://localhost:{port or DEFAULT_PORT}")
    if _find(text, "SECRET_KEY") is None:
        text = _set(text, "SECRET_KEY", secrets.token_urlsafe(SECRET_KEY_BYTES))
    if _find(text, "WEB_PUSH_KEY") is None:
        text = _set(text, "WEB_PUSH_KEY", secrets.token_urlsafe(WEB_PUSH_KEY_BYTES))
    return text


def _find(text: str, name: str) -> str | None:
    line = re.search(rf"^{name}=(.+)$", text, re.MULTILINE)
    return line[1] if line else None


def _set(text: str, name: str, value: str) -> str:
    others = [line for line in text.splitlines() if not line.startswith(f"{name}=")]
    return "\n".join([*others, f"{name}={value}", ""])


def replace_file(file: Path, content: bytes) -> None:
    """Write the file atomically, never readable by others."""
    fresh = file.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    fresh.touch(mode=0o600)
    fresh.write_bytes(content)
    fresh.replace(file)
