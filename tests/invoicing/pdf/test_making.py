"""How PDFs are made: the child process, and what goes wrong with it."""

import os
import re
import resource
from itertools import cycle, islice
from pathlib import Path
from threading import BoundedSemaphore

import pytest
from django.forms.models import model_to_dict

from invoicing.models import Company, Document, Logo
from invoicing.pdf import making
from invoicing.pdf.making import (
    GlyphsMissingError,
    PdfError,
    PdfMaker,
    make_pdf,
    missing_glyphs,
    versions,
)
from invoicing.services.document_facts import read_document
from tests.factories import CompanyFactory, CustomerFactory, line_input, make_draft, make_issued

# A PDF is the same on both databases.
pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]

# All characters of Unicode's first plane.
PLANE = "".join(map(chr, range(0x10000)))
BROKEN = "The PDF could not be made. The document itself is unchanged."
ENDED = (
    "The PDF could not be made: it took too long or too much memory. The document itself is"
    " unchanged. Try again later."
)


@pytest.fixture
def company():
    return CompanyFactory.create()


def replace_child(monkeypatch: pytest.MonkeyPatch, folder: Path, program: str) -> None:
    path = folder / "child.py"
    path.write_text(program, encoding="utf-8")
    monkeypatch.setattr(making, "CHILD", path)


def as_kept(document: Document) -> dict[str, object]:
    return model_to_dict(Document.objects.get(pk=document.pk))


def test_the_same_facts_are_the_same_bytes_in_another_process_and_time_zone(company, monkeypatch):
    issued = make_issued()
    made = make_pdf(issued, b"<a/>")
    monkeypatch.setitem(making.ENVIRONMENT, "TZ", "Pacific/Auckland")
    monkeypatch.setattr(making, "AT_ONCE", 1)
    assert make_pdf(Document.objects.get(pk=issued.pk), b"<a/>") == made
    assert made.startswith(b"%PDF-1.7")


def test_the_versions_name_what_decides_the_bytes():
    told = versions()
    assert {"typst", "fontpkg_noto_sans", "cvttf_NotoSansCJK_Regular"} <= told.keys()
    assert all(told.values())


def test_one_child_makes_many_pdfs_with_no_secret_and_little_memory(company):
    with PdfMaker() as maker:
        assert maker.make(make_draft()) != maker.make(make_issued())
        child = maker._child
        assert child
        environment = Path(f"/proc/{child.pid}/environ").read_text(encoding="utf-8")
        assert {each.partition("=")[0] for each in environment.strip("\0").split("\0")} == {
            "PATH",
            "RAYON_NUM_THREADS",
        }
        assert resource.prlimit(child.pid, resource.RLIMIT_DATA) == (384 << 20, 384 << 20)
        # Nor does the service end first where all memory is taken.
        assert Path(f"/proc/{child.pid}/oom_score_adj").read_text(encoding="ascii") == "1000\n"
    assert child.returncode is not None


def test_characters_without_a_glyph_are_named_and_nothing_is_printed(company):
    issued = make_issued(lines=(line_input(description="A \N{UNICORN FACE} and \N{RECEIPT}"),))
    kept = as_kept(issued)
    with pytest.raises(GlyphsMissingError) as raised:
        make_pdf(issued)
    assert str(raised.value) == (
        "No installed font has these characters: \N{UNICORN FACE} (U+1F984), \N{RECEIPT} (U+1F9FE)."
    )
    assert raised.value.characters == "\N{UNICORN FACE}\N{RECEIPT}"
    assert as_kept(issued) == kept


def test_without_the_large_fonts_their_characters_are_named(company, monkeypatch):
    draft = make_draft(customer=CustomerFactory.create(name="東京"))
    assert make_pdf(draft).startswith(b"%PDF")
    monkeypatch.setattr(making, "LARGE_PACKAGES", ())
    with pytest.raises(GlyphsMissingError) as raised:
        make_pdf(draft)
    assert raised.value.characters == "京東"


def test_before_issuing_it_is_known_which_characters_have_no_glyph(company, monkeypatch):
    assert glyphs_missing_in("① and \N{RECEIPT}") == "\N{RECEIPT}"
    # Usual letters start no process.
    monkeypatch.setattr(making, "CHILD", Path("/nowhere"))
    assert glyphs_missing_in("“Prêt” — 5 €,\nΩμέγα, Услуга, שלום, شركة, परामर्श, บริการ") == ""  # noqa: RUF001  Greek
    assert glyphs_missing_in("東京、サービス 컨설팅") == ""
    with pytest.raises(PdfError):  # nothing is known of them
        glyphs_missing_in("\N{RECEIPT}")


def glyphs_missing_in(notes: str) -> str:
    draft = make_draft(notes=notes, customer=CustomerFactory.create(name="Müller"))
    return missing_glyphs(draft, read_document(draft))


def test_what_is_taken_for_usual_has_its_glyphs(company):
    draft = make_draft()
    draft.notes = " ".join(re.findall(f"[{making.COMMON}{making.COMMON_LARGE}]", PLANE))
    assert make_pdf(draft).startswith(b"%PDF")


def test_the_longest_document_has_a_pdf(company):
    """Nothing takes more memory than a break after each letter, and many letters."""
    letters = map(chr, cycle(range(0x4E00, 0x9FA6)))
    lines = tuple(
        line_input(description="\n".join(islice(letters, 500)), unit="".join(islice(letters, 20)))
        for _ in range(100)
    )
    draft = make_draft(lines=lines, notes="\n".join(islice(letters, 2500)))
    assert make_pdf(draft).startswith(b"%PDF")


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("import time; time.sleep(60)", ENDED),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", ENDED),
        ("raise ZeroDivisionError", ENDED),
        ("import sys; sys.stdout.buffer.write(b'\\0\\0\\0\\0\\0\\0\\1\\0half')", ENDED),
    ],
)
def test_a_child_that_hangs_or_ends_is_an_error_with_a_sentence(
    company, monkeypatch, tmp_path, capfd, program, told
):
    issued = make_issued()
    kept = as_kept(issued)
    replace_child(monkeypatch, tmp_path, program)
    monkeypatch.setattr(making, "TIME_OUT", 0.5)
    with pytest.raises(PdfError) as raised, PdfMaker() as maker:
        maker.make(issued)
    assert (str(raised.value), raised.value.__cause__) == (told, None)
    # Nothing of the child's own is shown; what the service logs may be, as the log is set up.
    assert "Traceback" not in capfd.readouterr().err
    assert as_kept(issued) == kept


def test_what_fails_is_logged_and_the_next_document_is_made(company, caplog, monkeypatch, tmp_path):
    fine = make_issued()
    Company.objects.update(logo=Logo.objects.create(digest="0" * 64, png=b"no picture"))
    broken = make_issued()
    with PdfMaker() as maker:
        with pytest.raises(PdfError) as raised:
            maker.make(broken)
        assert str(raised.value) == BROKEN
        assert "unknown image format" in caplog.text
        assert maker.make(fine) == make_pdf(fine)
        # Nor does a child that was killed stop the rest.
        kill_child(maker)
        with pytest.raises(PdfError):
            maker.make(fine)
        assert maker.make(fine) == make_pdf(fine)


def test_a_killed_child_is_told_of_by_a_small_request_too(company, monkeypatch):
    """It is still buffered when the pipe turns out to be broken."""
    fine = make_issued()
    with PdfMaker() as maker:
        maker.make(fine)
        kill_child(maker)
        with monkeypatch.context() as patch:
            patch.setattr(making, "_request", lambda *_: {})
            with pytest.raises(PdfError):
                maker.make(fine)
        assert maker.make(fine) == make_pdf(fine)


def kill_child(maker: PdfMaker) -> None:
    assert maker._child
    maker._child.kill()
    maker._child.wait()


def test_the_child_needs_no_folder_to_write_to(company, monkeypatch):
    """The image's file system is read-only."""
    monkeypatch.setitem(making.ENVIRONMENT, "TMPDIR", os.devnull)
    monkeypatch.setitem(making.ENVIRONMENT, "HOME", os.devnull)
    assert make_pdf(make_draft()).startswith(b"%PDF")


def test_nobody_waits_long_while_others_make_pdfs(company, monkeypatch):
    monkeypatch.setattr(making, "PATIENCE", 0.01)
    monkeypatch.setattr(making, "_turns", BoundedSemaphore(1))
    issued = make_issued()
    with making._turns, pytest.raises(PdfError, match="Other PDFs are being made just now"):
        make_pdf(issued)
    assert make_pdf(issued).startswith(b"%PDF")
