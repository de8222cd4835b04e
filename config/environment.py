"""The settings of an installation, read from environment variables and checked at start."""

from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured
from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

PROJECT_FOLDER = Path(__file__).resolve().parent.parent
VAR_FOLDER = PROJECT_FOLDER / "var"
QUICKSTART_FILE = VAR_FOLDER / "quickstart.env"

HTTPS_PORT = 443
DATABASE_SCHEMES = ("sqlite", "postgres", "postgresql")
CACHE_SCHEMES = ("redis", "rediss")


def _application_url(value: str) -> str:
    """Return the URL in the one form it is compared in: lower case, no default port, no path."""
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        raise ValueError("must be an address such as https://invoices.example") from None
    if parts.scheme != "https" or not parts.hostname or not value.isascii() or "@" in value:
        raise ValueError("must be an https address such as https://invoices.example")
    if parts.path not in {"", "/"} or "?" in value or "#" in value:
        raise ValueError("must be https, host and optional port only, without a path")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"https://{host}" if port in {None, HTTPS_PORT} else f"https://{host}:{port}"


def _database_url(value: str) -> str:
    try:
        database = dj_database_url.parse(value)
    except ValueError:
        database = {}
    if urlsplit(value).scheme not in DATABASE_SCHEMES or not database.get("NAME"):
        raise ValueError("must be a postgresql:// or sqlite:/// address that names a database")
    return value


def _cache_url(value: str) -> str:
    if value and urlsplit(value).scheme not in CACHE_SCHEMES:
        raise ValueError("must be a redis:// or rediss:// address (Valkey speaks it too)")
    return value


Rate = Annotated[int, Field(ge=1, le=1_000_000)]


class Environment(BaseSettings):
    """One field per environment variable; README and .env.example list the same names.

    Values come from the environment first, then from the file that the quickstart keeps.
    """

    model_config = SettingsConfigDict(
        env_file=QUICKSTART_FILE, env_file_encoding="utf-8", extra="ignore", frozen=True
    )

    BASE_URL: Annotated[str, AfterValidator(_application_url)] = "https://localhost:8443"
    SECRET_KEY: Annotated[SecretStr, Field(min_length=32)]
    SECRET_KEY_FALLBACKS: str = ""
    DATABASE_URL: Annotated[str, AfterValidator(_database_url)] = (
        f"sqlite:///{VAR_FOLDER / 'invoicing.sqlite3'}"
    )
    CACHE_URL: Annotated[str, AfterValidator(_cache_url)] = ""
    DEMO_MODE: bool = False
    TRUSTED_PROXIES: Annotated[int, Field(ge=0, le=10)] = 0
    LIMIT_PER_CONNECTION: Rate = 60
    LIMIT_PER_ADDRESS: Rate = 60


SENTENCES = {
    "missing": "is missing; set it to a long random text (./dev run makes one by itself)",
    "string_too_short": "must have at least 32 characters",
    "too_short": "must have at least 32 characters",
    "bool_parsing": "must be on or off",
    "int_parsing": "must be a whole number",
    "greater_than_equal": "is too small",
    "less_than_equal": "is too large",
}


def read_environment() -> Environment:
    """Read and check every variable; raise ImproperlyConfigured with one sentence, never a value."""
    try:
        return Environment()
    except ValidationError as error:
        wrong = error.errors(include_input=False, include_url=False)[0]
        told = str(wrong.get("ctx", {}).get("error", "")) or SENTENCES.get(wrong["type"], "is wrong")
        raise ImproperlyConfigured(f"{wrong['loc'][0]} {told}.") from None
