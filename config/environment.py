"""The settings of an installation, read from environment variables and checked at start."""

import os
import re
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from email.utils import parseaddr
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import dj_database_url
from django.core.checks.security.base import (
    SECRET_KEY_INSECURE_PREFIX,
    SECRET_KEY_MIN_LENGTH,
    SECRET_KEY_MIN_UNIQUE_CHARACTERS,
)
from django.core.exceptions import ImproperlyConfigured
from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

from config.mail import parse_email_url
from invoicing.application_url import loopback_address

PROJECT_FOLDER = Path(__file__).resolve().parent.parent
VAR_FOLDER = PROJECT_FOLDER / "var"
QUICKSTART_FILE = VAR_FOLDER / "quickstart.env"

LOCAL_URL = "https://localhost:8443"
# The standard of Django's own check (security.W009), which only warns.
STRONG_KEY = (
    f"a random text of at least {SECRET_KEY_MIN_LENGTH} characters, such as"
    ' python3 -c "import secrets; print(secrets.token_urlsafe(48))" prints'
)
HTTPS_PORT = 443
LAST_PORT = 65535
SQLITE = "sqlite"
DATABASE_SCHEMES = (SQLITE, "postgres", "postgresql")
CACHE_SCHEMES = ("redis", "rediss")

POSTGRESQL_NAME_LENGTH = 63
# Read by the metrics' library itself.
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
# Of difflib: BASEURL has 0.93 of BASE_URL, and TRUSTED_PROXY 0.86 of TRUSTED_PROXIES.
LIKENESS = 0.85

UNESCAPED = (
    "has a sign that must be escaped in a name or a password: write / as %2F, # as %23, ? as %3F,"
    " @ as %40, [ as %5B and ] as %5D"
)
# A pattern, since the types of pydantic take line breaks, empty ports and hosts that cannot be.
LABEL = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?"
HOST = rf"(?P<name>{LABEL}(\.{LABEL})*)|\[(?P<ipv6>[0-9a-f:.]+)\]"
APPLICATION_URL = re.compile(rf"https://({HOST})(:(?P<port>[0-9]+))?/?", re.ASCII | re.IGNORECASE)
# With a path and a query, but no user and no fragment.
HTTP_URL = re.compile(
    rf"https?://({HOST})(:(?P<port>[0-9]{{1,5}}))?(/[!-\"$-~]*)?", re.ASCII | re.IGNORECASE
)
WEB_PUSH_KEY = re.compile(r"[A-Za-z0-9_-]{43}")
# How many points the curve of these keys has (FIPS 186-4).
P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
IP_AND_PORT = re.compile(r"(\[(?P<ipv6>[0-9a-f:.]+)\]|(?P<ipv4>[0-9.]+)):(?P<port>[0-9]{1,5})")


def _application_url(value: str) -> str:
    """Return the URL in the one form it is compared in: lower case, no default port, no path."""
    try:
        host, port = _host_and_port(value)
    except ValueError:
        raise ValueError(
            "must be https, a host and perhaps a port, such as https://invoices.example"
        ) from None
    return f"https://{host}" if port == HTTPS_PORT else f"https://{host}:{port}"


def _host_and_port(url: str) -> tuple[str, int]:
    parts = APPLICATION_URL.fullmatch(url)
    if parts is None:
        raise ValueError
    host = f"[{IPv6Address(parts['ipv6'])}]" if parts["ipv6"] else parts["name"].lower()
    port = int(parts["port"] or HTTPS_PORT)
    if not 1 <= port <= LAST_PORT:
        raise ValueError
    return host, port


def _database_url(value: str) -> str:
    _require_escapes(value)
    try:
        parts = dj_database_url.parse(value)
    except ValueError:
        parts = {}
    name = parts.get("NAME")
    # A database in memory would be another one for every thread, and gone at the next start.
    if value.split(":", maxsplit=1)[0] not in DATABASE_SCHEMES or name in {None, "", ":memory:"}:
        raise ValueError("must be a postgresql:// or sqlite:/// address that names a database")
    if not value.startswith(SQLITE):
        _require_hosts(parts["HOST"])
        if len(str(name)) > POSTGRESQL_NAME_LENGTH:
            raise ValueError(f"names a database with more than {POSTGRESQL_NAME_LENGTH} characters")
        if not _are_options(parts.get("OPTIONS", {})):
            raise ValueError("has an option after the database's name that PostgreSQL has not")
    return value


def _require_hosts(hosts: str) -> None:
    """Refuse what would end in a UnicodeError when it is looked up."""
    try:
        for host in hosts.split(","):
            if not host.startswith("/"):  # the folder of a socket
                host.encode("idna")
    except UnicodeError:
        raise ValueError("names a host that cannot be one: look for two dots in a row") from None


def _are_options(options: dict[str, Any]) -> bool:
    from psycopg import ProgrammingError  # noqa: PLC0415  loads slowly
    from psycopg.conninfo import make_conninfo  # noqa: PLC0415  as above

    try:
        make_conninfo(**options)
    except ProgrammingError:
        return False
    return True


def _require_escapes(url: str) -> None:
    """Refuse what would be taken for the end of the host, and the rest for another address."""
    scheme, _, rest = url.partition("://")
    user = "" if scheme == SQLITE else rest.rpartition("@")[0]
    if "#" in rest or any(sign in user for sign in "/?[]"):
        raise ValueError(UNESCAPED)


def _cache_url(value: str) -> str:
    _require_escapes(value)
    try:
        parts = urlsplit(value)
        host = parts.hostname or ""
        complete = parts.scheme in CACHE_SCHEMES and host and parts.port != 0
    except ValueError:
        host, complete = "", False
    if value and not complete:
        raise ValueError("must be a redis:// or rediss:// address (Valkey speaks it too)")
    _require_hosts(host)
    if value and not _is_understood(value):
        raise ValueError("names a database that is no number, or a wrong option, after the host")
    return value


def _is_understood(cache_url: str) -> bool:
    from config.shared_cache import is_understood  # noqa: PLC0415  loads slowly

    return is_understood(cache_url)


def _email_url(value: str) -> str:
    _require_escapes(value)
    try:
        host = parse_email_url(value).get("EMAIL_HOST", "")
    except ValueError:
        raise ValueError("must be an smtp://, smtps:// or file:/// address, or console:") from None
    _require_hosts(host)
    return value


def _email_from(value: str) -> str:
    address = parseaddr(value)[1]
    is_one = address.count("@") == 1 and not address.startswith("@") and not address.endswith("@")
    if value and not (is_one and value.isprintable()):
        raise ValueError("must be an e-mail address, such as Invoices <invoices@company.example>")
    return value


def _web_push_key(value: SecretStr) -> SecretStr:
    if value.get_secret_value() and not _is_private_key(value.get_secret_value()):
        raise ValueError(
            "must be a random text of 43 characters, such as"
            ' python3 -c "import secrets; print(secrets.token_urlsafe(32))" prints'
        )
    return value


def _is_private_key(text: str) -> bool:
    """Return whether it is a number of 32 bytes that the curve P-256 has, in base64 for URLs."""
    if not WEB_PUSH_KEY.fullmatch(text):
        return False
    return 0 < int.from_bytes(urlsafe_b64decode(f"{text}=")) < P256_ORDER


def _http_url(example: str) -> Callable[[str], str]:
    """Return what checks an address of another service; the example is named where it is wrong."""

    def check(value: str) -> str:
        parts = HTTP_URL.fullmatch(value)
        if value and not (parts and 1 <= int(parts["port"] or HTTPS_PORT) <= LAST_PORT):
            raise ValueError(
                f"must be an https:// or http:// address without a password, such as {example}"
            )
        return value

    return check


def _metrics_address(value: str) -> str:
    parts = IP_AND_PORT.fullmatch(value)
    complete = parts is not None and _is_address(parts) and 1 <= int(parts["port"]) <= LAST_PORT
    if value and not complete:
        raise ValueError("must be an IP address and a port, such as 127.0.0.1:9100")
    return value


def _is_address(parts: re.Match[str]) -> bool:
    kind = IPv6Address if parts["ipv6"] else IPv4Address
    try:
        kind(parts["ipv6"] or parts["ipv4"])
    except ValueError:
        return False
    return True


def _readable(value: str) -> str:
    """Refuse raw bytes: they reach Python as lone surrogates, which can be neither sent nor signed.

    Other variables need no such check: they are compared with patterns or words.
    """
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("must be text in UTF-8") from None
    return value


def _readable_secret(value: SecretStr) -> SecretStr:
    _readable(value.get_secret_value())
    return value


def _secret_key(value: SecretStr) -> SecretStr:
    if "," in value.get_secret_value():
        raise ValueError("must have no comma, since commas separate former keys")
    if not _is_strong(value.get_secret_value()):
        raise ValueError(f"must be {STRONG_KEY}")
    return value


def _former_keys(value: SecretStr) -> SecretStr:
    if not all(map(_is_strong, split_keys(value))):
        raise ValueError(f"must be former keys with commas between, each {STRONG_KEY}")
    return value


def _is_strong(key: str) -> bool:
    return (
        len(key) >= SECRET_KEY_MIN_LENGTH
        and len(set(key)) >= SECRET_KEY_MIN_UNIQUE_CHARACTERS
        and not key.startswith(SECRET_KEY_INSECURE_PREFIX)
    )


def split_keys(keys: SecretStr) -> list[str]:
    return [key.strip() for key in keys.get_secret_value().split(",") if key.strip()]


Text = Annotated[str, AfterValidator(_readable)]
Secret = Annotated[SecretStr, AfterValidator(_readable_secret)]
Rate = Annotated[int, Field(ge=1, le=1_000_000)]


class Environment(BaseSettings):
    """One field per environment variable; docs/settings.md and .env.example list the same names.

    Values come from the environment first, on one's own machine then from the quickstart's file.
    """

    model_config = SettingsConfigDict(
        case_sensitive=True, env_file_encoding="utf-8", extra="ignore", frozen=True
    )

    BASE_URL: Annotated[str, AfterValidator(_application_url)] = LOCAL_URL
    SECRET_KEY: Annotated[Secret, AfterValidator(_secret_key)]
    SECRET_KEY_FALLBACKS: Annotated[Secret, AfterValidator(_former_keys)] = SecretStr("")
    DATABASE_URL: Annotated[Text, AfterValidator(_database_url), Field(repr=False)] = (
        f"sqlite:///{VAR_FOLDER / 'invoicing.sqlite3'}"
    )
    CACHE_URL: Annotated[Text, AfterValidator(_cache_url), Field(repr=False)] = ""
    DEMO_MODE: bool = False
    TRUSTED_PROXIES: Annotated[int, Field(ge=0, le=10)] = 0
    LIMIT_PER_CONNECTION: Rate = 60
    LIMIT_PER_ADDRESS: Rate = 60
    LIMIT_REGISTER: Rate = 10
    LIMIT_TOKEN: Rate = 30
    LOG_FORMAT: Literal["text", "json"] = "text"
    METRICS_ADDRESS: Annotated[str, AfterValidator(_metrics_address)] = ""
    WEB_PUSH_KEY: Annotated[Secret, AfterValidator(_web_push_key)] = SecretStr("")
    EMAIL_URL: Annotated[Text, AfterValidator(_email_url), Field(repr=False)] = ""
    EMAIL_FROM: Annotated[Text, AfterValidator(_email_from)] = ""
    STAMP_URL: Annotated[str, AfterValidator(_http_url("https://stamps.example/tsr"))] = ""
    TRACES_URL: Annotated[str, AfterValidator(_http_url("http://127.0.0.1:4318/v1/traces"))] = ""


def find_misspelt(names: Iterable[str]) -> dict[str, str]:
    """Return which of the environment's names are like a setting that is not set, and which.

    Nobody knows for whom they are: they may be another program's.
    """
    ours = [*Environment.model_fields, METRICS_FOLDER]
    unset = [name for name in ours if name not in names]
    found = {
        name: get_close_matches(name.upper(), unset, n=1, cutoff=LIKENESS)
        for name in names
        if name not in ours
    }
    return {name: likely[0] for name, likely in sorted(found.items()) if likely}


# A shell that lost the variable would otherwise work on an empty database, and report success.
NO_DATABASE = (
    "DATABASE_URL is missing: name the database, since BASE_URL is not this machine, such as"
    " postgresql://user:password@host/name."
)
# By pydantic's type of error, the words after the variable's name.
MISTAKES = {
    "missing": f"is missing: set it to {STRONG_KEY}",
    "literal_error": "must be {expected}",
    "bool_parsing": "must be on or off",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number of ordinary size",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "value_error": "{error}",
}


def read_environment(file: Path = QUICKSTART_FILE) -> Environment:
    """Read and check every variable; raise ImproperlyConfigured, which never tells a value.

    A service for others takes nothing from the file, which a first look may have left.
    """
    try:
        environment = Environment(_env_file=None if _is_for_others() else file)
    except ValidationError as error:
        wrong = error.errors(include_input=False, include_url=False)[0]
        raise ImproperlyConfigured(_describe(wrong)) from None
    except (OSError, UnicodeDecodeError):
        raise ImproperlyConfigured(f"{file} cannot be read.") from None
    is_named = "DATABASE_URL" in environment.model_fields_set
    if not is_named and loopback_address(environment.BASE_URL) is None:
        raise ImproperlyConfigured(NO_DATABASE)
    return environment


def _is_for_others() -> bool:
    try:
        base_url = _application_url(os.environ.get("BASE_URL", LOCAL_URL))
    except ValueError:
        return False
    return loopback_address(base_url) is None


def _describe(wrong: ErrorDetails) -> str:
    words = MISTAKES.get(wrong["type"], "is not understood")
    return f"{wrong['loc'][0]} {words.format(**wrong.get('ctx', {}))}."
