"""The warning that what is about to be issued could have no PDF, as pages show it."""

from collections.abc import Iterator

from django.utils.translation import gettext

from invoicing.models import Document
from invoicing.pdf.making import PdfError, missing_glyphs, name_glyphs
from invoicing.services.document_facts import Facts
from invoicing.web.issue_warnings import Point, render_points


def render_print_warnings(draft: Document, facts: Facts) -> str:
    """Return the warning about printing a draft with these facts; a usual one has none.

    It follows from the facts alone. Rare characters cost a child process, of which few run at once.
    """
    return render_points([*_glyphs(draft, facts)])


def _glyphs(draft: Document, facts: Facts) -> Iterator[Point]:
    try:
        glyphs = missing_glyphs(draft, facts)
    except PdfError:
        text = gettext(
            "It could not be checked whether the installed fonts have all characters of this"
            " document. Without one of them there will be no PDF."
        )
        yield Point(text=text)
        return
    if glyphs:
        text = gettext(
            "No installed font has these characters: %(characters)s. With them there will be no"
            " PDF."
        )
        yield Point(text=text % {"characters": name_glyphs(glyphs)})
