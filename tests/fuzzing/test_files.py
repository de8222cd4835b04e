"""Files that people upload, spoilt: logos, tables of customers, and the form that brings them."""

import csv
from functools import cache
from io import BytesIO, StringIO
from struct import pack
from typing import Any
from zlib import compress, crc32

import pytest
from django.core.cache import cache as limits
from django.core.exceptions import ValidationError
from django.db import transaction
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from PIL.PngImagePlugin import PngImageFile, PngInfo

from invoicing.customer_imports.columns import HEADERS
from invoicing.customer_imports.planning import Outcome
from invoicing.customer_imports.reading import (
    MAX_COLUMNS,
    FileUnreadableError,
    find_examples,
    read_table,
)
from invoicing.customer_imports.waiting import keep_file, plan_import
from invoicing.models import Customer, CustomerImport
from invoicing.services.logos import MAX_SIDE, read_logo
from tests.factories import CustomerFactory
from tests.fuzzing.effort import tally, try_hard
from tests.fuzzing.mutations import BOUNDARY_TEXTS, ODD_BYTES, ODD_TEXTS, spoilt_bytes
from tests.invoicing.customer_imports.imports import customers, start

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MODES = ("1", "L", "LA", "P", "RGB", "RGBA", "I;16")


def chunk(kind: bytes, content: bytes) -> bytes:
    return pack(">I", len(content)) + kind + content + pack(">I", crc32(kind + content))


@cache
def make_png(mode: str) -> bytes:
    """Return a small picture that has all that a picture may have beside its pixels."""
    texts = PngInfo()
    texts.add_text("Author", "Milo", zip=True)
    texts.add_itxt("Title", "Logo", "de", "Logo", zip=True)
    file = BytesIO()
    picture = Image.linear_gradient("L").resize((20, 10))
    picture = picture.convert("L" if mode == "I;16" else mode)
    picture = picture.convert("I").convert("I;16") if mode == "I;16" else picture
    transparency = {"transparency": 0} if mode in {"P", "L"} else {}
    picture.save(file, "PNG", pnginfo=texts, dpi=(300, 300), gamma=1, **transparency)
    return file.getvalue()


@st.composite
def spoilt_pictures(draw: st.DrawFn) -> bytes:
    """Draw a picture with its bytes spoilt, its chunks in disorder, or its sizes a lie."""
    content = draw(st.sampled_from([*map(make_png, MODES)]))
    way = draw(st.sampled_from(["bytes", "bytes", "chunks", "bomb", "polyglot", "foreign"]))
    if way == "chunks":
        return draw(disordered(content))
    if way == "bomb":
        return draw(bombs())
    if way == "polyglot":
        return content + draw(st.sampled_from([b"PK\x03\x04<script>", b"%PDF-1.7", b"GIF89a"]))
    if way == "foreign":
        kind = draw(st.sampled_from(["GIF", "JPEG", "BMP", "TIFF", "WEBP", "ICO", "PPM"]))
        file = BytesIO()
        Image.new("RGB", (9, 9)).save(file, kind)
        content = file.getvalue()
    for _ in range(draw(st.integers(1, 4))):
        content = draw(spoilt_bytes(content))
    return content


@st.composite
def disordered(draw: st.DrawFn, content: bytes) -> bytes:
    """Draw the picture with chunks moved, doubled, left out or made up, their sums all right."""
    chunks, at = [], len(SIGNATURE)
    while at < len(content):
        length = int.from_bytes(content[at : at + 4])
        chunks.append((content[at + 4 : at + 8], content[at + 8 : at + 8 + length]))
        at += 12 + length
    made_up = [
        (b"acTL", pack(">II", 2**31, 0)),
        (b"acTL", pack(">II", 1, 0)),
        (b"tRNS", bytes(300)),
    ]
    made_up += [(b"iCCP", b"a\0\0" + compress(bytes(10**7))), (b"PLTE", bytes(7)), (b"IEND", b"x")]
    made_up += [(b"zTXt", b"a\0\0" + compress(bytes(10**7))), (b"eXIf", b"II*\0\xff\xff\xff\xff")]
    made_up += [(b"fcTL", bytes(26)), (b"gAMA", b""), (b"IHDR", bytes(13)), (b"\0\0\0\0", b"")]
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, max(0, len(chunks) - 1)))
        way = draw(st.sampled_from(["out", "twice", "moved", "put in", "put in", "inner"]))
        kind, inner = chunks[place] if chunks else (b"IEND", b"")
        if way in {"out", "moved"} and chunks:
            chunks.pop(place)
        if way in {"twice", "moved"}:
            chunks.insert(draw(st.integers(0, len(chunks))), (kind, inner))
        if way == "put in":
            chunks.insert(place, draw(st.sampled_from(made_up)))
        if way == "inner" and chunks:
            chunks[place] = (kind, draw(spoilt_bytes(inner)))
    return SIGNATURE + b"".join(chunk(*each) for each in chunks)


@st.composite
def bombs(draw: st.DrawFn) -> bytes:
    """Draw a picture of few bytes that says it is huge, or that unfolds to more than it says."""
    width, height = (draw(st.sampled_from([1, 300, MAX_SIDE + 1, 2**31 - 1])) for _ in "wh")
    depth, colour = draw(st.sampled_from([(1, 0), (8, 6), (16, 6), (16, 2), (8, 3), (3, 9)]))
    head = pack(">IIBBBBB", width, height, depth, colour, 0, 0, draw(st.integers(0, 2)))
    data = draw(st.sampled_from([compress(bytes(10**7), 9), b"", compress(b"")]))
    return SIGNATURE + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


@pytest.mark.sqlite
@pytest.mark.filterwarnings("ignore::UserWarning:PIL")
def test_a_logo_is_a_picture_and_nothing_else_or_it_is_refused():
    @try_hard(15, long=200)
    @given(spoilt_pictures())
    def fuzz(content: bytes) -> None:
        tally["logos"] += 1
        try:
            logo = read_logo(content)
        except ValidationError:
            return
        kept = PngImageFile(BytesIO(logo.png))
        assert max(kept.size) <= MAX_SIDE
        assert (kept.mode, kept.info, kept.n_frames) == ("RGBA", {}, 1)
        kept.load()
        # Of the kept file all is the picture: what is read of it again is the same file.
        assert read_logo(bytes(logo.png)).digest == logo.digest
        for hidden in (b"Milo", b"<script>", b"%PDF", b"PK\x03\x04"):
            assert hidden not in logo.png

    fuzz()


ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "latin-1", "utf-7")
CELLS = st.sampled_from(
    (
        *BOUNDARY_TEXTS,
        *("=1+1", "'=1+1", "@SUM(A1)", "-1", "+49 40 1", '"', '""', 'a"b', "a\r\nb", "a\rb", ","),
        *(";", "\t", "|", "Müller", "DE", "de", "Narnia", "EUR", "14", "0", "99999999999", "14,5"),
        *(
            "DE123456789",
            "ATU12345678",
            "a@b.example",
            "a@@b",
            "0204:991-1-1",
            "XRechnung",
            "é" * 60,
        ),
    )
)


@st.composite
def spoilt_tables(draw: st.DrawFn) -> bytes:
    """Draw a file of customers in any encoding, with any cells, and now and then spoilt bytes."""
    known = [header for headers in HEADERS.values() for header in headers]
    headers = draw(st.lists(st.sampled_from(known) | CELLS, min_size=1, max_size=6))
    rows = draw(st.lists(st.lists(CELLS | ODD_TEXTS, max_size=7), max_size=5))
    text = StringIO(newline="")
    quoting: Any = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    ends = draw(st.sampled_from(["\r\n", "\n", "\r", "\n\n"]))
    separator = draw(st.sampled_from(",;\t|"))
    writer = csv.writer(text, delimiter=separator, quoting=quoting, lineterminator=ends)
    writer.writerow(headers)
    writer.writerows(rows)
    encoding = draw(st.sampled_from(ENCODINGS))
    content = text.getvalue().encode(encoding, errors="replace")
    for _ in range(draw(st.sampled_from([0, 0, 1, 3]))):
        content = draw(spoilt_bytes(content))
    return content


@pytest.mark.sqlite
def test_a_table_is_read_as_text_or_it_is_refused_in_a_sentence():
    @try_hard(15, long=200)
    @given(spoilt_tables())
    def fuzz(content: bytes) -> None:
        tally["tables, read"] += 1
        try:
            table = read_table(content)
            rows = [*table.rows]
            find_examples(read_table(content))
        except FileUnreadableError:
            return
        assert 0 < len(table.headers) <= MAX_COLUMNS
        assert [row.line for row in rows] == sorted({row.line for row in rows})
        assert all(any(cell.strip() for cell in row.cells) for row in rows)
        assert not any("\0" in cell for row in rows for cell in row.cells)

    fuzz()


@pytest.mark.django_db
def test_what_is_imported_is_what_was_shown_and_the_same_file_changes_nothing(delegate):
    """Whatever the cells are: the preview tells it, the import does it, and again does nothing."""
    CustomerFactory.create(customer_number="1", name="Müller")

    @try_hard(15, long=200)
    @given(spoilt_tables())
    def fuzz(content: bytes) -> None:
        tally["tables, imported"] += 1
        with transaction.atomic():
            imported(content)
            transaction.set_rollback(True)

    def imported(content: bytes) -> None:
        before = Customer.objects.count()
        try:
            waiting = keep_file(delegate, name="kunden.csv", content=content)
        except FileUnreadableError:
            assert not CustomerImport.objects.exists()
            return
        plan = plan_import(delegate, waiting)
        new = len(plan.having(Outcome.NEW))
        changed = [row.customer.pk for row in plan.having(Outcome.CHANGED)]
        if not new and not changed:
            return
        list(start(delegate, waiting))
        assert Customer.objects.count() == before + new
        assert all("\0" not in text for each in customers() for text in each)
        again = keep_file(delegate, name="kunden.csv", content=content)
        later = plan_import(delegate, again)
        assert not later.having(Outcome.NEW)
        assert not later.having(Outcome.CHANGED)

    fuzz()


MULTIPART = (
    b'--x\r\nContent-Disposition: form-data; name="%b"; filename="%b"\r\n'
    b"Content-Type: text/csv\r\n\r\nName;PLZ\nAcme;1\n\r\n--x--\r\n"
)


@st.composite
def spoilt_forms(draw: st.DrawFn) -> tuple[bytes, str]:
    """Draw a form with a file, and its content type, as no browser sends them."""
    names = [b"file", b"logo_file", b"", b"a" * 300, b"file\\"]
    odd = [
        b"a.csv",
        b"../../a",
        b"",
        b"\x00",
        b"a\x00.csv",
        b"C:\\a",
        b"n" * 5000,
        b"\xff",
        b"a\r\nb",
    ]
    content = MULTIPART % (draw(st.sampled_from(names)), draw(st.sampled_from(odd) | ODD_BYTES))
    for _ in range(draw(st.integers(0, 3))):
        content = draw(spoilt_bytes(content))
    boundaries = [
        "x",
        "",
        "y",
        '"x"',
        "x" * 300,
        "x; boundary=y",
        "\xff",
        "x\0",
        "x; charset=utf-16",
    ]
    kinds = ["multipart/form-data", "multipart/mixed", "MULTIPART/FORM-DATA", "text/csv"]
    kind = f"{draw(st.sampled_from(kinds))}; boundary={draw(st.sampled_from(boundaries))}"
    return content, kind


@pytest.mark.django_db
def test_no_form_with_a_file_fails(sign_in, delegate):
    desk = sign_in(delegate)

    @try_hard(15, long=200)
    @given(spoilt_forms())
    def fuzz(form: tuple[bytes, str]) -> None:
        tally["forms with a file"] += 1
        limits.clear()
        with transaction.atomic():
            content, kind = form
            answer: Any = desk.generic("POST", "/customers/import", content, content_type=kind)
            assert answer.status_code in {200, 302, 400, 413, 422}
            transaction.set_rollback(True)

    fuzz()
