"""Where the quickstart keeps the certificate authority of this machine."""

from pathlib import Path

from invoicing.application_url import loopback_address

AUTHORITY_FILE = "ca.pem"


def find_authority(folder: Path, *, base_url: str) -> Path | None:
    """Return what clients of an address of this machine must trust; None for other addresses."""
    file = folder / AUTHORITY_FILE
    return file if loopback_address(base_url) and file.exists() else None
