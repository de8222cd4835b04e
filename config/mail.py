"""Where mail is handed over, as EMAIL_URL says it, and Django's settings for it."""

from typing import Any
from urllib.parse import unquote, urlsplit

from invoicing.application_url import loopback_address

BACKENDS = "django.core.mail.backends"
TIMEOUT_SECONDS = 5
STARTTLS_PORT, TLS_PORT = 587, 465


def parse_email_url(url: str) -> dict[str, Any]:
    """Return Django's settings; none for an empty one. Raise ValueError for an address of no kind.

    `smtp` begins TLS with STARTTLS, but for a server on this machine; `smtps` begins with TLS.
    """
    if not url or url == "console:":
        return {"EMAIL_BACKEND": f"{BACKENDS}.console.EmailBackend"} if url else {}
    parts = urlsplit(url)
    if parts.scheme == "file" and not parts.netloc and parts.path.startswith("/"):
        folder = unquote(parts.path)
        return {"EMAIL_BACKEND": f"{BACKENDS}.filebased.EmailBackend", "EMAIL_FILE_PATH": folder}
    more = parts.path.strip("/") or parts.query or parts.fragment
    if parts.scheme not in {"smtp", "smtps"} or not parts.hostname or parts.port == 0 or more:
        raise ValueError
    begins_with_tls = parts.scheme == "smtps"
    return {
        "EMAIL_BACKEND": f"{BACKENDS}.smtp.EmailBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or (TLS_PORT if begins_with_tls else STARTTLS_PORT),
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": begins_with_tls,
        "EMAIL_USE_TLS": not begins_with_tls and loopback_address(url) is None,
        "EMAIL_TIMEOUT": TIMEOUT_SECONDS,
    }
