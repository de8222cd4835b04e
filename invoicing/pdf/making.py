"""PDFs of documents, made by child processes: neither their memory nor their failures are ours."""

import base64
import json
import logging
import os
import subprocess
import sys
from datetime import UTC, datetime, time
from importlib.metadata import version
from pathlib import Path
from threading import BoundedSemaphore, Timer
from types import TracebackType
from typing import Any, Self

from agent_access.visible_text import name_character, replace_invisible
from invoicing.errors import InvoicingError
from invoicing.models import Document, Logo
from invoicing.paper.layout import paper_of_document
from invoicing.pdf.fonts import LARGE_PACKAGES, PACKAGES, folders_of

CHILD = Path(__file__).with_name("child.py")
LENGTH_BYTES = 8
# Seconds: a document of 100 lines takes a tenth of one.
TIME_OUT = 30
# How many documents one process makes at once: the children share its processors and memory.
AT_ONCE = 2

# All that the child knows of its surroundings. One thread suffices for a document.
ENVIRONMENT = {"RAYON_NUM_THREADS": "1", "PATH": os.defpath}
DECIDING_PACKAGES = ("typst", "pikepdf")

_turns = BoundedSemaphore(AT_ONCE)
logger = logging.getLogger(__name__)


class PdfError(InvoicingError):
    """The PDF could not be made; the text of the error is for people."""


class GlyphsMissingError(PdfError):
    """No installed font has some characters of the document."""

    def __init__(self, characters: str) -> None:
        self.characters = characters
        named = ", ".join(f"{each} ({name_character(each)})" for each in characters)
        super().__init__(f"No installed font has these characters: {named}.")


def make_pdf(document: Document, xml: bytes | None = None) -> bytes:
    """Return one document as a PDF/A-3b, with the XML of Factur-X inside; raises PdfError."""
    with PdfMaker() as maker:
        return maker.make(document, xml)


class PdfMaker:
    """Makes the PDFs of many documents with one child process, which starts with the first."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._child:
            self._child.kill()
            self._child.communicate()
        self._child = None

    def make(self, document: Document, xml: bytes | None = None) -> bytes:
        """Return a document as it stands, as make_pdf() does."""
        with _turns:
            answer = self._ask(_request(document, xml))
        if missing := answer.get("missing"):
            raise GlyphsMissingError(missing)
        if error := answer.get("error"):
            logger.error("A PDF could not be made: %s", error)
            raise PdfError("The PDF could not be made. The log of the service says why.")
        return base64.b64decode(answer["pdf"])

    def _ask(self, request: dict[str, Any]) -> dict[str, str]:
        """Return the child's answer; one that is late is killed."""
        child = self._child = self._child or _start_child()
        killing = Timer(TIME_OUT, child.kill)
        killing.start()
        try:
            return _exchange(child, json.dumps(request).encode())
        except (OSError, EOFError) as error:
            self.close()
            raise PdfError(
                "The PDF could not be made: it took too long or too much memory."
            ) from error
        finally:
            killing.cancel()


def _start_child() -> subprocess.Popen[bytes]:
    """Start a child that has no secrets, and reads and writes pipes only."""
    return subprocess.Popen(  # noqa: S603  our own program
        [sys.executable, "-I", CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=ENVIRONMENT,
        cwd=CHILD.parent,
    )


def _exchange(child: subprocess.Popen[bytes], request: bytes) -> dict[str, str]:
    """Send a request and read the answer; raises EOFError or OSError if the child ends."""
    assert child.stdin
    assert child.stdout
    child.stdin.write(len(request).to_bytes(LENGTH_BYTES, "big") + request)
    child.stdin.flush()
    length = int.from_bytes(child.stdout.read(LENGTH_BYTES), "big")
    answer = child.stdout.read(length)
    if not length or len(answer) < length:
        raise EOFError
    told: dict[str, str] = json.loads(answer)
    return told


def _mark_invisible(value: Any) -> Any:
    """Return JSON values in whose texts each invisible character is its name between two NULs."""
    if isinstance(value, str):
        return replace_invisible(value, lambda found: f"\0{name_character(found)}\0")
    if isinstance(value, dict):
        return {name: _mark_invisible(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_mark_invisible(each) for each in value]
    return value


def versions() -> dict[str, str]:
    """Return the versions of the packages that decide the bytes of a PDF."""
    return {name: version(name) for name in DECIDING_PACKAGES}


def _request(document: Document, xml: bytes | None) -> dict[str, Any]:
    paper = _mark_invisible(paper_of_document(document))
    logo = Logo.objects.filter(pk=paper["seller"].get("logo")).first()
    is_french = (document.seller_parts or {}).get("country") == "FR"
    issued = document.issued_at or datetime.combine(document.issue_date, time(), UTC)
    return {
        "paper": paper,
        "logo": list(logo.png) if logo else None,
        "xml": xml and xml.decode(),
        "relationship": "data" if is_french else "alternative",
        "timestamp": int(issued.timestamp()),
        "fonts": folders_of(PACKAGES),
        "more_fonts": folders_of(LARGE_PACKAGES),
    }
