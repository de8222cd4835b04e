"""How the files of documents are called."""

import re

from invoicing.models import Document, OriginalKind

# Numbers hold no other characters, but for the slash, which would begin a folder.
_UNSAFE = re.compile(r"[^A-Z0-9._-]")
# Windows takes these for devices, whatever follows the dot.
_DEVICE = re.compile(r"^(?=(CON|PRN|AUX|NUL|COM\d|LPT\d)(\.|$))")


def file_name_of(document: Document, kind: OriginalKind) -> str:
    """Return the name of a file of a document, such as INV-2026-0001-xrechnung.xml.

    Safe for every file system and header, and each document has its own.
    """
    stem = _DEVICE.sub("_", _UNSAFE.sub("+", str(document)))
    return f"{stem}.pdf" if kind == OriginalKind.PDF else f"{stem}-{kind}.xml"
