"""Another party's word that the heads of the audit were so at a time: a time stamp (RFC 3161).

Whoever can write to the database can write other chains with other heads. What an authority outside
has stamped, they cannot: its signature covers the digest of the heads and the time.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from pathlib import Path

from cryptography.x509 import Certificate, ObjectIdentifier, load_pem_x509_certificates
from django.db import transaction
from django.utils import timezone
from rfc3161_client import (
    HashAlgorithm,
    PKIStatus,
    TimeStampRequest,
    TimestampRequestBuilder,
    TimeStampResponse,
    VerificationError,
    VerifierBuilder,
    decode_timestamp_response,
)

from agent_access import conf, outgoing
from agent_access.audit import OPERATOR, record_act
from agent_access.evidence.files import whole_file
from agent_access.outgoing import MAX_BYTES, OutgoingError
from agent_access.verification import read_heads, write_heads

ACTION = "heads:stamped"
SHA256 = ObjectIdentifier("2.16.840.1.101.3.4.2.1")
HEADERS = {
    "Content-Type": "application/timestamp-query",
    "Accept": "application/timestamp-reply",
}

NO_AUTHORITY = "STAMP_URL is not set: it is the address of the authority that stamps."
NO_CHAIN = "There is no chain yet, so nothing can be stamped."
UNREADABLE_ROOTS = "The file of roots cannot be read: it must hold certificates in PEM."
UNREACHABLE = "The authority could not be reached, or its answer was too slow or too long."
NO_STAMP = "The authority answered, but not with a time stamp."
REFUSED = "The authority refused to stamp."
OTHER_STAMP = "The authority stamped something else than it was asked for."
NOT_TRUSTED = "None of the roots vouches for the signature of the stamp."
TWICE = "The folder has a stamp of this second: try again."
UNWRITTEN = "The files cannot be written: name a folder of this account with --directory."


class StampError(Exception):
    """Nothing was stamped, and nothing kept; the message is a sentence."""


@dataclass(frozen=True)
class Stamped:
    """What was kept: `text` are the heads, and beside that file is the stamp, as .tsr."""

    text: Path
    chains: int
    stamped_at: datetime


def read_roots(file: Path) -> list[Certificate]:
    """Return the certificates that an authority's signature must lead to; raises StampError."""
    try:
        return load_pem_x509_certificates(file.read_bytes())
    except (OSError, ValueError):
        raise StampError(UNREADABLE_ROOTS) from None


def stamp_heads(folder: Path, *, roots: Sequence[Certificate] = ()) -> Stamped:
    """Let the authority stamp the heads of all chains, and keep both in two files of the folder.

    Without roots nobody checks who signed. Raises StampError.
    """
    if not conf.stamp_url():
        raise StampError(NO_AUTHORITY)
    heads = read_heads()
    if not heads:
        raise StampError(NO_CHAIN)
    text = write_heads(heads).encode()
    response, stamp = _ask(text, roots)
    path = folder / f"heads-{timezone.now():%Y%m%dT%H%M%SZ}.txt"
    # The files come first: what could not be written is in no event, and no slow disk holds up who
    # waits for the administration. So does the stamp: there are no heads without one.
    with _kept({path.with_suffix(".tsr"): response, path: text}), transaction.atomic():
        record_act(ACTION, OPERATOR, detail=hashlib.sha256(text).hexdigest())
    return Stamped(path, len(heads), stamp.tst_info.gen_time)


def _ask(text: bytes, roots: Sequence[Certificate]) -> tuple[bytes, TimeStampResponse]:
    """Return the authority's answer, as it came and as it was read and checked."""
    asked = TimestampRequestBuilder().data(text).hash_algorithm(HashAlgorithm.SHA256).build()
    response = _send(asked.as_bytes())
    try:
        stamp = decode_timestamp_response(response)
        is_granted = stamp.status == PKIStatus.GRANTED
    except ValueError:
        raise StampError(NO_STAMP) from None
    if not is_granted:
        raise StampError(REFUSED)
    _check(stamp, asked, roots)
    return response, stamp


def _send(query: bytes) -> bytes:
    # Plain HTTP, which many authorities speak alone, shows the digest of the heads to the network,
    # and lets it keep the stamp from us; it cannot forge the authority's signature.
    options = {"reaches_loopback": conf.reaches_loopback(), "may_be_plain": True}
    try:
        with outgoing.request("POST", conf.stamp_url(), HEADERS, query, **options) as response:
            body = response.read(MAX_BYTES + 1)
            is_whole = not response.length  # the bytes still missing
    except OutgoingError:
        raise StampError(UNREACHABLE) from None
    if response.status != HTTPStatus.OK:
        raise StampError(NO_STAMP)
    if len(body) > MAX_BYTES or not is_whole:
        raise StampError(UNREACHABLE)
    return body


def _check(stamp: TimeStampResponse, asked: TimeStampRequest, roots: Sequence[Certificate]) -> None:
    try:
        stamped, digest = stamp.tst_info.message_imprint, asked.message_imprint.message
        is_ours = stamped.hash_algorithm == SHA256 and stamped.message == digest
        if not is_ours or stamp.tst_info.nonce != asked.nonce:
            raise StampError(OTHER_STAMP)
        if roots:
            VerifierBuilder(roots=list(roots), nonce=asked.nonce).build().verify(stamp, digest)
    except VerificationError:
        raise StampError(NOT_TRUSTED) from None
    except ValueError:
        raise StampError(NO_STAMP) from None


@contextmanager
def _kept(files: Mapping[Path, bytes]) -> Iterator[None]:
    """Write the files, which only this account may read: all, or none if it or the block fails.

    They are on the disk when the block begins, and none is written over another.
    """
    with ExitStack() as undoing:
        try:
            for path, content in files.items():
                with whole_file(path) as file:
                    file.write(content)
                undoing.callback(path.unlink, missing_ok=True)
        except FileExistsError:
            raise StampError(TWICE) from None
        except OSError:
            raise StampError(UNWRITTEN) from None
        yield
        undoing.pop_all()
