"""Elements of XML that are left out where they would be empty."""

import re
from collections.abc import Iterable
from xml.etree.ElementTree import Element, tostring

# What no XML 1.0 may hold.
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REPLACEMENT = "\ufffd"

Content = Element | str | None


def element(name: str, *content: Content, **attributes: str) -> Element | None:
    """Return an element with these texts and elements inside, or None if there are none.

    The name has its prefix, as in "cbc:ID".
    """
    made = _fill(Element(name, attributes), content)
    return made if len(made) or made.text else None


def write_xml(name: str, *content: Content, **namespaces: str) -> bytes:
    """Return a document as UTF-8: always the same bytes for the same content."""
    root = _fill(Element(name, namespaces), content)
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return written


def _fill(made: Element, content: Iterable[Content]) -> Element:
    for each in content:
        if isinstance(each, str):
            made.text = _NO_XML.sub(_REPLACEMENT, each)
        elif each is not None:
            made.append(each)
    return made
