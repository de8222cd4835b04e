from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.environment import (
    PROJECT_FOLDER,
    Environment,
    find_misspelt,
    read_environment,
    split_keys,
)
from tests.environment import SETTINGS
from tests.programs import run_python

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

KEY = "the-key-of-this-installation-0123456789-0123456789-0"
ADDRESS = "BASE_URL must be https, a host and perhaps a port, such as https://invoices.example."
DATABASE = "DATABASE_URL must be a postgresql:// or sqlite:/// address that names a database."
# Raw bytes, as they reach Python.
BYTES = "\udcff" * 40
# Passwords with a sign that would end the host, or the whole address.
UNESCAPED = ("12/ter", "12#ter", "12?ter", "12[ter", "12]ter", "h/@er")
CACHE = "CACHE_URL must be a redis:// or rediss:// address (Valkey speaks it too)."
ESCAPE = (
    "{} has a sign that must be escaped in a name or a password: write / as %2F, # as %23, ? as"
    " %3F, @ as %40, [ as %5B and ] as %5D."
)
NO_HOST = "{} names a host that cannot be one: look for two dots in a row."
UNKNOWN_OPTION = "DATABASE_URL has an option after the database's name that PostgreSQL has not."
OPTION = "CACHE_URL names a database that is no number, or a wrong option, after the host."
METRICS = "METRICS_ADDRESS must be an IP address and a port, such as 127.0.0.1:9100."
PUSH_KEY = (
    "WEB_PUSH_KEY must be a random text of 43 characters, such as"
    ' python3 -c "import secrets; print(secrets.token_urlsafe(32))" prints.'
)
MAIL = "EMAIL_URL must be an smtp://, smtps:// or file:/// address, or console:."
SENDER = "EMAIL_FROM must be an e-mail address, such as Invoices <invoices@company.example>."
STAMPS = (
    "STAMP_URL must be an https:// or http:// address without a password, such as"
    " https://stamps.example/tsr."
)
TRACES = (
    "TRACES_URL must be an https:// or http:// address without a password, such as"
    " http://127.0.0.1:4318/v1/traces."
)
STRONG = (
    "a random text of at least 50 characters, such as"
    ' python3 -c "import secrets; print(secrets.token_urlsafe(48))" prints.'
)
MISSING_KEY = f"SECRET_KEY is missing: set it to {STRONG}"
WEAK_KEY = f"SECRET_KEY must be {STRONG}"
WEAK_FORMER_KEY = f"SECRET_KEY_FALLBACKS must be former keys with commas between, each {STRONG}"

# By the variable and the sentence: the values that are refused with it.
WRONG = {
    ("BASE_URL", ADDRESS): [
        "",
        "http://invoices.example",
        "invoices.example",
        "https://invoices.example/app",
        "https://invoices.example?x=1",
        "https://invoices.example#top",
        "https://someone:hunter2@invoices.example",
        "https://invoices.example\n",
        "https://-invoices.example",
        "https://rechnungen-für.example",
        "https://invoices.example:",
        "https://invoices.example:0",
        "https://invoices.example:65536",
        "https://[::zz]",
        "https://invoices.example:" + "9" * 5000,
    ],
    ("SECRET_KEY", WEAK_KEY): ["", KEY[:49], "abcd" * 20, f"django-insecure-{KEY}"],
    ("SECRET_KEY", "SECRET_KEY must be text in UTF-8."): [BYTES],
    ("SECRET_KEY", "SECRET_KEY must have no comma, since commas separate former keys."): [
        f"{KEY},"
    ],
    ("SECRET_KEY_FALLBACKS", "SECRET_KEY_FALLBACKS must be text in UTF-8."): [BYTES],
    ("SECRET_KEY_FALLBACKS", WEAK_FORMER_KEY): [f"{KEY},short", f"{KEY},{KEY[:49]}"],
    ("DATABASE_URL", DATABASE): [
        "",
        "mysql://invoices:hunter2@db.example/invoices",
        "postgresql://invoices:hunter2@db.example",
        "postgresql://invoices:hunter2@db.example:port/invoices",
        "postgresql://invoices:hunter2@[db.example/invoices",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite://:memory:",
    ],
    ("DATABASE_URL", ESCAPE.format("DATABASE_URL")): [
        *(f"postgresql://invoices:{typed}@db.example/invoices" for typed in UNESCAPED),
        "sqlite:////srv/books#1.sqlite3",
    ],
    ("DATABASE_URL", NO_HOST.format("DATABASE_URL")): [
        "postgresql://db..example/invoices",
        "postgresql://db.example,db..example/i",
    ],
    ("DATABASE_URL", UNKNOWN_OPTION): ["postgresql://db.example/invoices?ssl_mode=require"],
    ("DATABASE_URL", "DATABASE_URL names a database with more than 63 characters."): [
        f"postgresql://db.example/{'i' * 64}"
    ],
    ("DATABASE_URL", "DATABASE_URL must be text in UTF-8."): [
        f"postgresql://invoices:{BYTES}@db.example/invoices"
    ],
    ("CACHE_URL", CACHE): [
        "memcached://cache.example",
        "redis://",
        "redis://:hunter2@[cache.example",
        "redis://:hunter2@cache.example:port",
    ],
    ("CACHE_URL", ESCAPE.format("CACHE_URL")): [
        f"redis://:{typed}@cache.example/0" for typed in UNESCAPED
    ],
    ("CACHE_URL", NO_HOST.format("CACHE_URL")): ["redis://cache..example/0"],
    ("CACHE_URL", OPTION): [
        "redis://cache.example/first",
        "redis://cache.example/0/1",
        "redis://cache.example/0?patience=5",
        "redis://cache.example/0?socket_timeout=long",
        "rediss://cache.example/0?ssl_cert_reqs=CERT_NONE",
        "redis://cache.example/0?retry=3",
        "redis://cache.example/0?cache_config=3",
    ],
    ("CACHE_URL", "CACHE_URL must be text in UTF-8."): [f"redis://:{BYTES}@cache.example"],
    ("DEMO_MODE", "DEMO_MODE must be on or off."): ["", "perhaps"],
    ("TRUSTED_PROXIES", "TRUSTED_PROXIES must be a whole number."): ["one", "1.5", ""],
    ("TRUSTED_PROXIES", "TRUSTED_PROXIES must be at least 0."): ["-1"],
    ("TRUSTED_PROXIES", "TRUSTED_PROXIES must be at most 10."): ["11"],
    ("LIMIT_PER_CONNECTION", "LIMIT_PER_CONNECTION must be at least 1."): ["0"],
    ("LIMIT_PER_CONNECTION", "LIMIT_PER_CONNECTION must be at most 1000000."): ["1000001"],
    ("LIMIT_PER_ADDRESS", "LIMIT_PER_ADDRESS must be a whole number of ordinary size."): [
        "9" * 5000
    ],
    ("LOG_FORMAT", "LOG_FORMAT must be 'text' or 'json'."): ["", "JSON"],
    ("METRICS_ADDRESS", METRICS): [
        "9100",
        ":9100",
        "127.0.0.1",
        "127.0.0.1:0",
        "127.0.0.1:65536",
        "127.0.0.1:" + "9" * 5000,
        "127.0.0:9100",
        "::1:9100",
        "[127.0.0.1]:9100",
        "[::1:9100",
        "metrics.internal:9100",
    ],
    ("WEB_PUSH_KEY", PUSH_KEY): ["x" * 42, "A" * 43, "_" * 43, f"{'x' * 43}=", "x" * 42 + "!"],
    ("EMAIL_URL", MAIL): ["smtp://", "mail.example", "pop3://mail.example", "file://mail/folder"],
    ("EMAIL_URL", ESCAPE.format("EMAIL_URL")): [f"smtp://me:{UNESCAPED[0]}@mail.example"],
    ("EMAIL_URL", NO_HOST.format("EMAIL_URL")): ["smtp://mail..example"],
    ("EMAIL_FROM", SENDER): ["invoices", "@company.example", "a@company.example\nBcc: b@c.example"],
    ("STAMP_URL", STAMPS): [
        "stamps.example",
        "ftp://stamps.example",
        "https://",
        "https://stamps..example",
        "https://me:secret@stamps.example",
        "https://stamps.example:0",
        "https://stamps.example:65536",
        "http://stamps.example/a b",
        "http://stamps.example/a#b",
        "http://stamps.example/\n",
    ],
    ("TRACES_URL", TRACES): ["127.0.0.1:4318", "grpc://collector", "https://me:key@collector"],
}


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that says nothing about this installation."""
    for name in Environment.model_fields:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def quickstart_file(tmp_path: Path) -> Path:
    return tmp_path / "quickstart.env"


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(
    ("name", "sentence", "value"),
    [(*told, value) for told, values in WRONG.items() for value in values],
)
def test_a_wrong_value_is_refused_with_one_sentence(
    monkeypatch, quickstart_file, name, sentence, value
) -> None:
    monkeypatch.setenv("SECRET_KEY", KEY)
    monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured) as refusal:
        read_environment(quickstart_file)
    assert str(refusal.value) == sentence
    assert refusal.value.__suppress_context__  # the cause would show the value in a traceback


@pytest.mark.usefixtures("bare")
def test_a_missing_secret_key_is_refused(quickstart_file) -> None:
    with pytest.raises(ImproperlyConfigured) as refusal:
        read_environment(quickstart_file)
    assert str(refusal.value) == MISSING_KEY


@pytest.mark.usefixtures("bare")
def test_a_secret_key_is_all_that_must_be_set(monkeypatch, quickstart_file) -> None:
    monkeypatch.setenv("SECRET_KEY", KEY)
    environment = read_environment(quickstart_file)
    assert environment.model_dump(exclude={"SECRET_KEY"}) == {
        "BASE_URL": "https://localhost:8443",
        "SECRET_KEY_FALLBACKS": Environment.model_fields["SECRET_KEY_FALLBACKS"].default,
        "DATABASE_URL": f"sqlite:///{PROJECT_FOLDER}/var/invoicing.sqlite3",
        "CACHE_URL": "",
        "DEMO_MODE": False,
        "TRUSTED_PROXIES": 0,
        "LIMIT_PER_CONNECTION": 60,
        "LIMIT_PER_ADDRESS": 60,
        "LIMIT_REGISTER": 10,
        "LIMIT_TOKEN": 30,
        "LOG_FORMAT": "text",
        "METRICS_ADDRESS": "",
        "WEB_PUSH_KEY": Environment.model_fields["WEB_PUSH_KEY"].default,
        "EMAIL_URL": "",
        "EMAIL_FROM": "",
        "STAMP_URL": "",
        "TRACES_URL": "",
    }
    assert environment.SECRET_KEY.get_secret_value() == KEY
    assert split_keys(environment.SECRET_KEY_FALLBACKS) == []


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("host", ["invoices.example", "10.0.0.7:8443", "[2001:db8::1]"])
def test_a_service_for_others_never_falls_back_to_a_database_of_its_own(
    monkeypatch, quickstart_file, host
) -> None:
    monkeypatch.setenv("SECRET_KEY", KEY)
    monkeypatch.setenv("BASE_URL", f"https://{host}")
    with pytest.raises(ImproperlyConfigured) as refusal:
        read_environment(quickstart_file)
    assert str(refusal.value) == (
        "DATABASE_URL is missing: name the database, since BASE_URL is not this machine, such as"
        " postgresql://user:password@host/name."
    )
    monkeypatch.setenv("DATABASE_URL", "sqlite:////srv/books.sqlite3")
    assert read_environment(quickstart_file).DATABASE_URL == "sqlite:////srv/books.sqlite3"


def as_written(*values: str) -> dict[str, str]:
    return {value: value for value in values}


# By the variable: what is written, and what is read.
ACCEPTED: dict[str, dict[str, Any]] = {
    "BASE_URL": {
        "https://invoices.example": "https://invoices.example",
        "HTTPS://Invoices.EXAMPLE:443/": "https://invoices.example",
        "https://invoices.example:08443": "https://invoices.example:8443",
        "https://127.0.0.1:8443": "https://127.0.0.1:8443",
        "https://[0:0::1]:8443": "https://[::1]:8443",
    },
    "DEMO_MODE": {"on": True, "true": True, "1": True, "off": False, "0": False},
    "EMAIL_URL": as_written(
        "smtp://localhost",
        "smtps://me:p%2Fw@mail.example:465",
        "file:///srv/mail",
        "console:",
    ),
    "EMAIL_FROM": as_written("a@company.example", "Rechnungen Müller <a@company.example>"),
    "TRACES_URL": as_written("http://127.0.0.1:4318/v1/traces", "https://collector/v1/traces"),
    "METRICS_ADDRESS": as_written("127.0.0.1:9100", "[::1]:9100", "0.0.0.0:1"),
    "CACHE_URL": as_written(
        "redis://cache.example",
        "redis://:hunter2@cache.example:6379/0",
        "rediss://invoices:hunter2@cache.example/1?ssl_cert_reqs=required&socket_timeout=2",
    ),
    "DATABASE_URL": as_written(
        "postgresql://invoices:p@ss:w%2Frd@db.example:5432/invoices?sslmode=verify-full",
        "postgresql://invoices@/invoices?host=db1,db2&target_session_attrs=any",
        "postgresql://postgres@%2Ftmp%2Fpostgresql/invoices",
        "sqlite:////srv/books@home.sqlite3",
    ),
}


@pytest.mark.parametrize(
    ("name", "written", "read"),
    [(name, *pair) for name, values in ACCEPTED.items() for pair in values.items()],
)
def test_a_value_has_one_form(monkeypatch, quickstart_file, name, written, read) -> None:
    monkeypatch.setenv(name, written)
    assert getattr(read_environment(quickstart_file), name) == read


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["BASEURL"], {"BASEURL": "BASE_URL"}),
        (["base_url"], {"base_url": "BASE_URL"}),
        (["LIMIT_PER_CONECTION"], {"LIMIT_PER_CONECTION": "LIMIT_PER_CONNECTION"}),
        (["TRUSTED_PROXY", "PATH"], {"TRUSTED_PROXY": "TRUSTED_PROXIES"}),
        (["DATABASE_URI"], {"DATABASE_URI": "DATABASE_URL"}),
        (["PROMETHEUS_MULTI_PROC_DIR"], {"PROMETHEUS_MULTI_PROC_DIR": "PROMETHEUS_MULTIPROC_DIR"}),
        (["BASEURL", "BASE_URL"], {}),
        (["DATABASE_NAME", "LOG_LEVEL", "REDIS_URL", "SECRET_KEY_BASE", "CACHE_TTL"], {}),
    ],
)
def test_a_name_that_is_nearly_one_of_ours_is_found(names, found) -> None:
    assert find_misspelt(names) == found


def test_former_secret_keys_stand_with_commas_between(monkeypatch, quickstart_file) -> None:
    older, oldest = KEY[::-1], f"{KEY}-oldest"
    monkeypatch.setenv("SECRET_KEY_FALLBACKS", f"{older}, {oldest}")
    assert split_keys(read_environment(quickstart_file).SECRET_KEY_FALLBACKS) == [older, oldest]


@pytest.mark.usefixtures("bare")
def test_the_quickstarts_file_is_read_below_the_environment(monkeypatch, quickstart_file) -> None:
    quickstart_file.write_text(
        f"SECRET_KEY={KEY}\nBASE_URL=https://localhost:9443\n", encoding="utf-8"
    )
    assert read_environment(quickstart_file).SECRET_KEY.get_secret_value() == KEY
    assert read_environment(quickstart_file).BASE_URL == "https://localhost:9443"
    monkeypatch.setenv("BASE_URL", "https://localhost:7443")
    assert read_environment(quickstart_file).BASE_URL == "https://localhost:7443"


@pytest.mark.usefixtures("bare")
def test_a_service_for_others_takes_nothing_from_the_quickstarts_file(
    monkeypatch, quickstart_file
) -> None:
    quickstart_file.write_text(f"SECRET_KEY={KEY}\n", encoding="utf-8")
    monkeypatch.setenv("BASE_URL", "https://invoices.example")
    with pytest.raises(ImproperlyConfigured) as refusal:
        read_environment(quickstart_file)
    assert str(refusal.value) == MISSING_KEY
    quickstart_file.write_bytes(b"SECRET_KEY=\xff\xfe")
    monkeypatch.setenv("SECRET_KEY", KEY)
    monkeypatch.setenv("DATABASE_URL", "postgresql://db.example/invoices")
    assert read_environment(quickstart_file).BASE_URL == "https://invoices.example"


@pytest.mark.usefixtures("bare")
def test_an_unreadable_quickstart_file_is_told_in_one_sentence(quickstart_file) -> None:
    quickstart_file.write_bytes(b"SECRET_KEY=\xff\xfe")
    with pytest.raises(ImproperlyConfigured) as refusal:
        read_environment(quickstart_file)
    assert str(refusal.value) == f"{quickstart_file} cannot be read."


def test_no_secret_shows_in_the_environments_text(monkeypatch, quickstart_file) -> None:
    monkeypatch.setenv("SECRET_KEY", KEY)
    monkeypatch.setenv("SECRET_KEY_FALLBACKS", KEY[::-1])
    monkeypatch.setenv("DATABASE_URL", "postgresql://invoices:hunter2@db.example/invoices")
    monkeypatch.setenv("CACHE_URL", "redis://:hunter2@cache.example")
    shown = repr(read_environment(quickstart_file))
    assert [secret for secret in (KEY, KEY[::-1], "hunter2") if secret in shown] == []


def test_a_test_run_sets_every_variable_so_that_none_leaks_in() -> None:
    assert sorted([*SETTINGS, "DATABASE_URL"]) == sorted(Environment.model_fields)


@pytest.mark.parametrize(
    ("command", "name", "value", "sentence"),
    [
        ("check", "SECRET_KEY", "hunter2", WEAK_KEY),
        ("migrate", "DATABASE_URL", "mysql://invoices:hunter2@db.example/invoices", DATABASE),
    ],
)
def test_a_wrong_value_stops_every_command(command, name, value, sentence) -> None:
    done = run_python("manage.py", command, settings={name: value})
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"Wrong setting: {sentence}\n")


def test_the_settings_that_a_command_names_are_its_settings(tmp_path) -> None:
    (tmp_path / "other_settings.py").write_text(
        "from config.settings import *\nSTATIC_URL = '/other/'\n"
    )
    place = ("--settings", "other_settings", "--pythonpath", str(tmp_path))
    done = run_python("manage.py", "diffsettings", *place)
    assert "STATIC_URL = '/other/'" in done.stdout
