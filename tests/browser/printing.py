"""What stands on paper: the texts of a PDF that Chromium prints, page by page.

It reads what Chromium writes and no more of PDF: plain objects, and fonts with two bytes a glyph
that say which characters their glyphs are.
"""

import re
import zlib
from collections.abc import Iterator, Mapping

OBJECT = re.compile(rb"(\d+) 0 obj\n(.*?)\nendobj", re.DOTALL)
STREAM = re.compile(rb"stream\n(.*)\nendstream", re.DOTALL)
FONT = re.compile(rb"/(F\d+) (\d+) 0 R")
# What a page does: choose a font, show glyphs, end a text.
STEP = re.compile(r"/(F\d+) [\d.]+ Tf|<([0-9A-F]+)> Tj|ET\n")
# One glyph and its character, or a run of glyphs and the character of the first.
MAPPED = re.compile(r"^<(\w{4})> (?:<(\w{4})> )?<(\w{4})>$", re.MULTILINE)

Objects = Mapping[int, bytes]


def read_pages(pdf: bytes) -> list[str]:
    """Return the text of every page, with a line end between texts that stand apart."""
    objects = {int(number): body for number, body in OBJECT.findall(pdf)}
    pages = (body for _, body in sorted(objects.items()) if b"/Type /Page\n" in body)
    return ["".join(_read_page(page, objects)) for page in pages]


def _read_page(page: bytes, objects: Objects) -> Iterator[str]:
    fonts = {name.decode(): int(number) for name, number in FONT.findall(page)}
    for font, glyphs, *_ in STEP.findall(_unpack(_follow(page, "Contents", objects))):
        if font:
            characters = _read_font(objects[fonts[font]], objects)
        elif glyphs:
            yield "".join(characters[int(glyph, 16)] for glyph in re.findall("....", glyphs))
        else:
            yield "\n"


def _read_font(font: bytes, objects: Objects) -> dict[int, str]:
    found = MAPPED.findall(_unpack(_follow(font, "ToUnicode", objects)))
    return {
        glyph: chr(int(character, 16) + glyph - int(first, 16))
        for first, last, character in found
        for glyph in range(int(first, 16), int(last or first, 16) + 1)
    }


def _follow(body: bytes, name: str, objects: Objects) -> bytes:
    found = re.search(rb"/%s (\d+) 0 R" % name.encode(), body)
    assert found, name
    return objects[int(found[1])]


def _unpack(body: bytes) -> str:
    found = STREAM.search(body)
    assert found
    packed = found[1]
    return (zlib.decompress(packed) if b"/FlateDecode" in body else packed).decode("latin-1")
