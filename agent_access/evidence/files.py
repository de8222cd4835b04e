"""New files for who runs a command alone; what was begun and not finished is gone."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from django.core.management import CommandError

MODE = 0o600


@contextmanager
def new_file(file: Path) -> Iterator[BinaryIO]:
    """Yield a file to write to, which is on the disk when the block ends; raises CommandError.

    One that is there already is never replaced. If the block fails, the file is removed.
    """
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, MODE)
    except FileExistsError:
        raise CommandError(f"{file} is there already, and is not replaced.") from None
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error.strerror}.") from error
    try:
        with os.fdopen(descriptor, "wb") as opened:
            yield opened
            opened.flush()
            os.fsync(descriptor)
    except BaseException as error:
        file.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise CommandError(f"{file} cannot be written: {error.strerror}.") from error
        raise
