"""PDFs of documents, made by child processes: neither their memory nor their failures are ours."""

import base64
import json
import logging
import os
import re
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime, time
from importlib.metadata import version
from pathlib import Path
from threading import BoundedSemaphore, Timer
from types import TracebackType
from typing import Any, Self

from django.utils.translation import gettext_noop

from agent_access.translations import SentenceError
from agent_access.visible_text import name_character, replace_invisible
from invoicing.errors import InvoicingError
from invoicing.models import Document, Logo
from invoicing.paper.layout import paper_of_document
from invoicing.pdf.fonts import LARGE_PACKAGES, PACKAGES, folders_of, font_versions
from invoicing.services.document_facts import Facts

CHILD = Path(__file__).with_name("child.py")
# Of the length before each request and answer, as the child has it.
LENGTH_BYTES = 8
# All that the child knows of its surroundings. One thread is enough for a document.
ENVIRONMENT = {"PATH": os.defpath, "RAYON_NUM_THREADS": "1"}
# Seconds; a document of 100 lines takes a tenth of one, the longest some five.
TIME_OUT = 30
# How many PDFs a process makes at once: all children share the machine's processors and memory.
AT_ONCE = 2
# Seconds for which a thread waits for its turn, so that few PDFs never hold all threads.
PATIENCE = 5
# Texts of these characters only have all their glyphs: Latin, Greek, Cyrillic, Hebrew, Arabic,
# Devanagari, Thai and punctuation; with the large fonts Chinese, Japanese and Korean too.
COMMON = (
    r"\x20-\x7e\xa0-\u0377\u037a-\u037f\u0384-\u038a\u038c\u038e-\u03a1\u03a3-\u03e1\u03f0-\u052f"
    r"\u05d0-\u05ea\u0600-\u06ff\u0900-\u097f\u0e01-\u0e3a\u0e3f-\u0e5b\u1e00-\u1eff"
    r"\u2010-\u2027\u2030-\u205e\u20a0-\u20c0"
)
COMMON_LARGE = r"\u3000-\u303f\u3041-\u3096\u30a0-\u30fe\u4e00-\u9fa5\uac00-\ud7a3\uff01-\uff9f"
# Where an XML beside the PDF is its data, by the rules of that country, and not an alternative.
DATA_COUNTRY = "FR"

_turns = BoundedSemaphore(AT_ONCE)
logger = logging.getLogger(__name__)


NO_GLYPHS = gettext_noop("No installed font has these characters: %(characters)s.")


class PdfError(SentenceError, InvoicingError):
    """The PDF could not be made; the sentence is for people."""


class GlyphsMissingError(PdfError):
    """No installed font has these characters of the document."""

    def __init__(self, characters: str) -> None:
        super().__init__(NO_GLYPHS, characters=name_glyphs(characters))
        self.characters = characters


def name_glyphs(characters: str) -> str:
    """Return the characters with their names, as sentences about them list them."""
    return ", ".join(f"{each} ({name_character(each)})" for each in characters)


def make_pdf(document: Document, xml: bytes | None = None) -> bytes:
    """Return a document as it stands as PDF/A-3b, with the XML of Factur-X inside.

    A draft is marked as one. The same facts and versions() give the same bytes. Raises PdfError.
    """
    with PdfMaker() as maker:
        return maker.make(document, xml)


def missing_glyphs(draft: Document, facts: Facts) -> str:
    """Return the characters of a draft, which has these facts, that no installed font has.

    Only rare characters cost a child process; raises PdfError if it tells nothing of them.
    """
    common = COMMON + COMMON_LARGE if folders_of(LARGE_PACKAGES) else COMMON
    told = json.dumps(_mark_invisible(facts), ensure_ascii=False, default=str)
    if re.fullmatch(f"[{common}]*", told):
        return ""
    try:
        make_pdf(draft)
    except GlyphsMissingError as error:
        return error.characters
    return ""


def versions() -> dict[str, str]:
    """Return the versions of the packages that decide the bytes of a PDF."""
    return {"typst": version("typst"), **font_versions()}


class PdfMaker:
    """Makes many PDFs with one child process, which starts with the first of them.

    One thread uses it.
    """

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
        self._end()

    def make(self, document: Document, xml: bytes | None = None) -> bytes:
        """Return a document as PDF, as make_pdf() does."""
        if not _turns.acquire(timeout=PATIENCE):
            raise PdfError(
                gettext_noop("Other PDFs are being made just now. Try again in a moment.")
            )
        try:
            answer = self._ask(_request(document, xml))
        finally:
            _turns.release()
        if missing := answer.get("missing"):
            raise GlyphsMissingError(missing)
        if error := answer.get("error"):
            logger.error("A PDF could not be made: %s", error)
            raise PdfError(
                gettext_noop("The PDF could not be made. The document itself is unchanged.")
            )
        return base64.b64decode(answer["pdf"])

    def _ask(self, request: dict[str, Any]) -> dict[str, str]:
        """Return the child's answer. A child that is late is killed, and the next one is new."""
        child = self._child = self._child or _start_child()
        killing = Timer(TIME_OUT, child.kill)
        killing.start()
        try:
            return _exchange(child, json.dumps(request).encode())
        except (OSError, EOFError):
            self._end()
            logger.exception("The process that makes PDFs ended with %s.", child.returncode)
            raise PdfError(
                gettext_noop(
                    "The PDF could not be made: it took too long or too much memory."
                    " The document itself is unchanged. Try again later."
                )
            ) from None
        finally:
            killing.cancel()

    def _end(self) -> None:
        if child := self._child:
            child.kill()
            # Closes its pipes, and waits for it; what is still buffered cannot be sent any more.
            with suppress(OSError), child:
                self._child = None


def _start_child() -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603  our own program
        [sys.executable, "-I", CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=ENVIRONMENT,
    )


def _exchange(child: subprocess.Popen[bytes], request: bytes) -> dict[str, str]:
    """Send a request and read its answer; raises EOFError or OSError if the child ends before."""
    if not child.stdin or not child.stdout:
        raise EOFError
    child.stdin.write(len(request).to_bytes(LENGTH_BYTES, "big") + request)
    child.stdin.flush()
    length = int.from_bytes(child.stdout.read(LENGTH_BYTES), "big")
    answer = child.stdout.read(length)
    if not length or len(answer) < length:
        raise EOFError
    told: dict[str, str] = json.loads(answer)
    return told


def _request(document: Document, xml: bytes | None) -> dict[str, Any]:
    """Return what the child needs to know of a document, as its JSON has it."""
    paper = paper_of_document(document)
    logo = Logo.objects.filter(pk=paper["seller"].get("logo")).first()
    country = (document.seller_parts or {}).get("country")
    made_at = document.issued_at or datetime.combine(document.issue_date, time(), UTC)
    return {
        # Its lines are the earlier ones and the last.
        "paper": _mark_invisible({**paper, "lines": []}),
        "logo": list(logo.png) if logo else None,
        "xml": xml.decode() if xml else None,
        "relationship": "data" if country == DATA_COUNTRY else "alternative",
        "timestamp": int(made_at.timestamp()),
        "fonts": folders_of(PACKAGES),
        "large_fonts": folders_of(LARGE_PACKAGES),
    }


def _mark_invisible(value: Any) -> Any:
    """Return JSON values in whose texts each invisible character is its name between two NULs."""
    match value:
        case str():
            return replace_invisible(value, lambda found: f"\0{name_character(found)}\0")
        case dict():
            return {name: _mark_invisible(each) for name, each in value.items()}
        case list() | tuple():
            return [_mark_invisible(each) for each in value]
    return value
