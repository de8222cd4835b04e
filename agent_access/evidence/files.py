"""New files, for who runs a command alone, that are whole and on the disk, or not there."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from django.core.management import CommandError

MODE = 0o600
# What a disk says that has no second names for files, such as a stick's.
NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}
# What one says that writes its folders by itself.
NO_FOLDER_SYNC = {errno.EINVAL, errno.EBADF}


@contextmanager
def new_file(file: Path) -> Iterator[BinaryIO]:
    """Yield a file as `whole_file` does; raises CommandError."""
    try:
        with whole_file(file) as opened:
            yield opened
    except FileExistsError:
        raise CommandError(f"{file} is there already, and is not replaced.") from None
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error.strerror}.") from error


@contextmanager
def whole_file(file: Path) -> Iterator[BinaryIO]:
    """Yield a file to write and read, which has its name when the block ends; raises OSError.

    It is on the disk then. One that is there already is never replaced: FileExistsError. Until it
    is whole it is `.NAME.part`. A killed process leaves that, and the next run replaces it.
    """
    if os.path.lexists(file):
        raise FileExistsError(file)
    part = file.with_name(f".{file.name}.part")
    part.unlink(missing_ok=True)  # never written through: it may be a link to another file
    with open(part, "x+b", opener=_open_for_owner) as opened:
        try:
            yield opened
            opened.flush()
            os.fsync(opened.fileno())
            if not is_named(opened, part):  # another run writes the same file
                raise FileExistsError(file)
            _name(part, file)
        finally:
            if is_named(opened, part):
                part.unlink()
    try:
        sync_folder(file.parent)
    except OSError:
        file.unlink(missing_ok=True)
        raise


def sync_file(opened: BinaryIO, file: Path) -> None:
    """Return once an opened file, and its name, are on the disk; raises OSError."""
    os.fsync(opened.fileno())
    sync_folder(file.resolve().parent)


def sync_folder(folder: Path) -> None:
    """Return once the names in the folder are on the disk, as far as it tells; raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in NO_FOLDER_SYNC:
            raise
    finally:
        os.close(descriptor)


def is_named(opened: BinaryIO, file: Path) -> bool:
    """Return whether the name is still that of the opened file, and of no other."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(opened.fileno()), file.stat())
    return False


def _open_for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, MODE)


def _name(part: Path, file: Path) -> None:
    """Give the part its name, which nothing has; raises OSError."""
    try:
        os.link(part, file)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        if os.path.lexists(file):
            raise FileExistsError(file) from None
        part.rename(file)
