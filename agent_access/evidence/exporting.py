"""Writing a package into a file: an act that the audit tells, with the digest of what left."""

import hashlib
from dataclasses import dataclass
from typing import BinaryIO

from django.db import transaction
from django.utils import timezone

from agent_access.audit import Actor, record_act
from agent_access.evidence.package import write_package
from agent_access.models import AccessSettings

TARGET = "evidence"


@dataclass(frozen=True)
class Written:
    """A package that was written: its size in bytes and its SHA-256, in hexadecimal."""

    size: int
    digest: str


def export_package(file: BinaryIO, *, by: Actor) -> Written:
    """Write a package of this moment into the file; the audit tells when it is begun and finished.

    What was written of one that fails is no package.
    """
    _record("begun", by)
    digest, size = hashlib.sha256(), 0
    for chunk in write_package(made_at=timezone.now()):
        digest.update(chunk)
        size += file.write(chunk)
    written = Written(size, digest.hexdigest())
    _record("finished", by, detail=f"{size} bytes, SHA-256 {written.digest}")
    return written


def _record(how: str, by: Actor, **told: str) -> None:
    with transaction.atomic():
        AccessSettings.lock()
        record_act(f"export:{how}", by, target=TARGET, **told)
