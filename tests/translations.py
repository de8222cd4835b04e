"""The catalogues of what people read, extracted and compiled by Babel.

`agent_access` has its own, since it serves other projects too; all else is in that of invoicing.
`./dev locale` takes new texts into each catalogue, drops those that are gone, and compiles it. What
has no translation yet stays empty, for whoever translates it. A new language is begun with an empty
file: `invoicing/locale/fr/LC_MESSAGES/django.po`.
"""

import importlib.util
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from babel.messages import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

from config.environment import PROJECT_FOLDER

# By function: which arguments are the texts, and which the context ("c").
KEYWORDS = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "npgettext_lazy": ((1, "c"), 2, 3),
}
COMMENTS = ("Translators:",)
COLUMNS = 100

# The context and the text of a message, of one with plurals all its forms.
Key = tuple[str | None, str | tuple[str, ...]]


class Part(NamedTuple):
    """A part of the project with catalogues of its own, in `locale` of its folder.

    Its texts are in `sources`; places in the catalogue are named from `root`.
    """

    folder: Path
    sources: tuple[Path, ...]
    root: Path

    def catalogues(self) -> list[Path]:
        return sorted(self.folder.glob("locale/*/LC_MESSAGES/django.po"))


APP = PROJECT_FOLDER / "agent_access"
AGENT_ACCESS = Part(folder=APP, sources=(APP,), root=APP)
PAGES = Part(
    folder=PROJECT_FOLDER / "invoicing",
    sources=tuple(PROJECT_FOLDER / each for each in ("config", "invoicing", "templates")),
    root=PROJECT_FOLDER,
)
PARTS = (AGENT_ACCESS, PAGES)

# The apps beside which agent_access is installed, whose pages read the same catalogues.
NEIGHBOURS = ("django", "oauth2_provider", "rest_framework")


def part_of(path: Path) -> Part:
    """Return the part that a catalogue belongs to; a copy elsewhere counts for agent_access."""
    return next((part for part in PARTS if part.folder in path.parents), AGENT_ACCESS)


def language_of(path: Path) -> str:
    return path.parts[-3]


def find_sources(part: Part) -> list[Path]:
    """Return the part's modules and templates, those of e-mails and pages alike."""
    patterns = ("*.py", "*.html", "*.txt")
    found = {path for folder in part.sources for each in patterns for path in folder.rglob(each)}
    return sorted(path for path in found if path.suffix == ".py" or "templates" in path.parts)


@cache
def extract_messages(part: Part) -> Catalog:
    """Return a catalogue of all texts that are marked in modules and templates."""
    catalog = Catalog()
    for path in find_sources(part):
        place = path.relative_to(part.root).as_posix()
        for _, text, comments, context in extract(
            "python", BytesIO(read_as_python(path)), KEYWORDS, COMMENTS
        ):
            catalog.add(text, locations=[(place, 1)], auto_comments=comments, context=context)
    return catalog


def read_as_python(path: Path) -> bytes:
    """Return a module as it is, and of a template the calls that stand for its tags."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        text = "\n".join(line.strip() for line in templatize(text, origin=str(path)).splitlines())
    return text.encode()


def read_catalogue(path: Path) -> Catalog:
    return read_po(BytesIO(path.read_bytes()), locale=language_of(path))


@cache
def read_neighbours(part: Part, language: str) -> dict[Key, Any]:
    """Return the translations of others whose texts a page of the part may show as well."""
    own = [] if part is AGENT_ACCESS else AGENT_ACCESS.catalogues()
    paths = [path for path in own if language_of(path) == language]
    for package in NEIGHBOURS:
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin is not None:
            folder = Path(spec.origin).parent
            paths += sorted(folder.glob(f"**/locale/{language}/LC_MESSAGES/django.po"))
    known: dict[Key, Any] = {}
    for message in (each for path in paths for each in read_catalogue(path)):
        if message.id and not is_untranslated(message):
            known.setdefault(key_of(message), message.string)
    return known


def refresh(path: Path) -> tuple[bytes, bytes]:
    """Return the catalogue with today's texts, as its source and compiled."""
    catalog, part = read_catalogue(path), part_of(path)
    # A translation is never guessed from a similar text.
    catalog.update(extract_messages(part), no_fuzzy_matching=True, update_creation_date=False)
    catalog.obsolete.clear()
    _take_from_neighbours(catalog, part, language_of(path))
    source, compiled = BytesIO(), BytesIO()
    write_po(source, catalog, width=COLUMNS, include_lineno=False)
    write_mo(compiled, catalog)
    return source.getvalue(), compiled.getvalue()


def _take_from_neighbours(catalog: Catalog, part: Part, language: str) -> None:
    """Give a text that others translate already their translation: all share one table."""
    known = read_neighbours(part, language)
    for message in catalog:
        if message.id and is_untranslated(message) and key_of(message) in known:
            message.string = known[key_of(message)]


def key_of(message: Any) -> Key:
    return message.context, message.id


def is_untranslated(message: Any) -> bool:
    """Return whether a message has no translation, or one that nobody has confirmed."""
    string = message.string
    texts = string if isinstance(string, tuple) else (string,)
    is_whole = all(texts) and message.pluralizable == isinstance(string, tuple)
    return bool(message.fuzzy or not is_whole)


def list_untranslated(path: Path) -> Iterator[str]:
    """Yield the texts that have no translation, or one that nobody has confirmed."""
    for message in read_catalogue(path):
        if message.id and is_untranslated(message):
            yield str(message.id)


def main() -> None:
    for path in [path for part in PARTS for path in part.catalogues()]:
        source, compiled = refresh(path)
        path.write_bytes(source)
        path.with_suffix(".mo").write_bytes(compiled)
        for text in list_untranslated(path):
            print(f"{language_of(path)}: not translated: {text}")  # noqa: T201  its answer


if __name__ == "__main__":
    main()
