"""Whether the static files have been collected, without which no page can be shown."""

import os
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.apps import StaticFilesConfig
from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.storage import ManifestFilesMixin
from django.core.files.storage import storages

UNCOLLECTED = "The static files of this release have not been collected, so no page can be shown."
UNREADABLE = "The collected static files cannot be read, so no page can be shown."
COLLECT = "Run manage.py collectstatic --noinput."
LET_READ = "Let the account of the service read the folder {folder} and all that is in it."


def find_fault() -> tuple[str, str] | None:
    """Return what is wrong with the collected files and how to repair it, or None."""
    try:
        is_sound = are_there() and _are_of_this_release()
    except PermissionError:
        return UNREADABLE, LET_READ.format(folder=settings.STATIC_ROOT)
    return None if is_sound else (UNCOLLECTED, COLLECT)


def are_there() -> bool:
    """Return whether every file that a page may name is there; cheap enough for each probe.

    Raises PermissionError if one cannot be read.
    """
    names = _read_manifest()
    return names is None or (bool(names) and all(map(_can_be_read, names.values())))


def _read_manifest() -> dict[str, str] | None:
    """Return the collected files by their names in the source; None where none are collected.

    So it is in tests, which take them from the source.
    """
    storage = storages["staticfiles"]
    if not isinstance(storage, ManifestFilesMixin):
        return None
    try:
        names: dict[str, str] = storage.hashed_files
    except ValueError:  # raised for a manifest that is none
        return {}
    return names


def _can_be_read(name: str) -> bool:
    file = Path(settings.STATIC_ROOT, name)
    try:
        file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    if not os.access(file, os.R_OK):
        raise PermissionError
    return True


def _are_of_this_release() -> bool:
    """Return whether what was collected is what the release brings, byte for byte."""
    if _read_manifest() is None:
        return True
    return all(_is_same(name, source) for name, source in _find_sources().items())


def _find_sources() -> dict[str, Path]:
    sources: dict[str, Path] = {}
    for finder in get_finders():
        for name, storage in finder.list(StaticFilesConfig.ignore_patterns):
            sources.setdefault(name, Path(storage.path(name)))
    return sources


def _is_same(name: str, source: Path) -> bool:
    try:
        return Path(settings.STATIC_ROOT, name).read_bytes() == source.read_bytes()
    except FileNotFoundError:
        return False
