"""The catalogues of agent_access: what its pages say, extracted and compiled by Babel.

`./dev locale` takes new texts into each catalogue, drops those that are gone, and compiles it. What
has no translation yet stays empty, for whoever translates it.
"""

from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path

from babel.messages import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

from config.environment import PROJECT_FOLDER

APP = PROJECT_FOLDER / "agent_access"
CATALOGUES = sorted(APP.glob("locale/*/LC_MESSAGES/django.po"))

# By function: which arguments are the texts, and which the context ("c").
KEYWORDS = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
}
COMMENTS = ("Translators:",)
COLUMNS = 100


def find_sources() -> list[Path]:
    return sorted([*APP.rglob("*.py"), *APP.rglob("templates/**/*.html")])


@cache
def extract_messages() -> Catalog:
    """Return a catalogue of all texts that are marked in modules and templates."""
    catalog = Catalog()
    for path in find_sources():
        place = path.relative_to(APP).as_posix()
        for _, text, comments, context in extract(
            "python", BytesIO(read_as_python(path)), KEYWORDS, COMMENTS
        ):
            catalog.add(text, locations=[(place, 1)], auto_comments=comments, context=context)
    return catalog


def read_as_python(path: Path) -> bytes:
    """Return a module as it is, and of a template the calls that stand for its tags."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        text = "\n".join(line.strip() for line in templatize(text, origin=str(path)).splitlines())
    return text.encode()


def read_catalogue(path: Path) -> Catalog:
    return read_po(BytesIO(path.read_bytes()), locale=path.parts[-3])


def refresh(path: Path) -> tuple[bytes, bytes]:
    """Return the catalogue with today's texts, as its source and compiled."""
    catalog = read_catalogue(path)
    # A translation is never guessed from a similar text.
    catalog.update(extract_messages(), no_fuzzy_matching=True, update_creation_date=False)
    catalog.obsolete.clear()
    source, compiled = BytesIO(), BytesIO()
    write_po(source, catalog, width=COLUMNS, include_lineno=False)
    write_mo(compiled, catalog)
    return source.getvalue(), compiled.getvalue()


def list_untranslated(path: Path) -> Iterator[str]:
    """Yield the texts that have no translation, or one that nobody has confirmed."""
    for message in read_catalogue(path):
        texts = message.string if isinstance(message.string, tuple) else (message.string,)
        if message.id and (message.fuzzy or not all(texts)):
            yield str(message.id)


def main() -> None:
    for path in CATALOGUES:
        source, compiled = refresh(path)
        path.write_bytes(source)
        path.with_suffix(".mo").write_bytes(compiled)
        for text in list_untranslated(path):
            print(f"{path.parts[-3]}: not translated: {text}")  # noqa: T201  its answer


if __name__ == "__main__":
    main()
