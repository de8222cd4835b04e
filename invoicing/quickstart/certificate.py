"""A certificate for this machine, from an authority that cannot sign another one."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import trustme
from cryptography.x509 import load_pem_x509_certificate

from invoicing.application_url import LOOPBACK_ADDRESSES
from invoicing.quickstart.authority import AUTHORITY_FILE
from invoicing.quickstart.settings_file import replace_file

VALIDITY = timedelta(days=397)  # what browsers accept
RENEWAL = timedelta(days=30)


@dataclass(frozen=True)
class Certificate:
    """The PEM files: the authority to trust, and the server's private key with its certificate."""

    authority: Path
    server: Path
    expires_at: datetime


def ensure_certificate(folder: Path, *, now: datetime) -> Certificate:
    """Return the folder's certificate; make one if there is none, or it expires within 30 days.

    One that is not valid yet is replaced too: it was made while this machine's clock was ahead.
    """
    authority, server = folder / AUTHORITY_FILE, folder / "server.pem"
    expires_at = _read_expiry(server) if authority.exists() else None
    if expires_at is None or not RENEWAL <= expires_at - now <= VALIDITY:
        expires_at = now.astimezone(UTC).replace(microsecond=0) + VALIDITY - timedelta(days=1)
        _make(authority, server, expires_at)
    return Certificate(authority, server, expires_at)


def _read_expiry(server: Path) -> datetime | None:
    try:
        return load_pem_x509_certificate(server.read_bytes()).not_valid_after_utc
    except (FileNotFoundError, ValueError):
        return None


def _make(authority: Path, server: Path, expires_at: datetime) -> None:
    """Write both files; killed in between, it leaves no server.pem, and the next start makes both.

    The authority's private key is never stored, so to trust it is to trust this certificate only.
    """
    issuer = trustme.CA(organization_name="Invoicing quickstart")
    issued = issuer.issue_cert(
        *LOOPBACK_ADDRESSES,
        organization_name="Invoicing quickstart",
        not_before=expires_at - VALIDITY,
        not_after=expires_at,
    )
    server.unlink(missing_ok=True)
    issuer.cert_pem.write_to_path(authority)
    replace_file(server, issued.private_key_and_cert_chain_pem.bytes())
