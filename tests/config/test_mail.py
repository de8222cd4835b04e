"""How EMAIL_URL becomes Django's settings: nothing is sent in the clear to another machine."""

import pytest

from config.mail import parse_email_url

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite


@pytest.mark.parametrize(
    ("url", "host", "port", "begins_with_tls", "starts_tls"),
    [
        ("smtp://mail.example", "mail.example", 587, False, True),
        ("smtp://mail.example:25", "mail.example", 25, False, True),
        ("smtp://localhost:25", "localhost", 25, False, False),
        ("smtp://127.0.0.1", "127.0.0.1", 587, False, False),
        ("smtps://mail.example", "mail.example", 465, True, False),
        ("smtps://localhost", "localhost", 465, True, False),
    ],
)
def test_only_a_server_on_this_machine_may_do_without_tls(
    url, host, port, begins_with_tls, starts_tls
):
    assert parse_email_url(url) == {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": host,
        "EMAIL_PORT": port,
        "EMAIL_HOST_USER": "",
        "EMAIL_HOST_PASSWORD": "",
        "EMAIL_USE_SSL": begins_with_tls,
        "EMAIL_USE_TLS": starts_tls,
        "EMAIL_TIMEOUT": 5,
    }


def test_the_account_is_read_with_its_escapes():
    found = parse_email_url("smtps://me%40company.example:p%2Fw@mail.example")
    account = (found["EMAIL_HOST_USER"], found["EMAIL_HOST_PASSWORD"])
    assert account == ("me@company.example", "p/w")


def test_mail_can_go_to_a_folder_the_console_or_nowhere():
    assert parse_email_url("file:///srv/mail%20out") == {
        "EMAIL_BACKEND": "django.core.mail.backends.filebased.EmailBackend",
        "EMAIL_FILE_PATH": "/srv/mail out",
    }
    console = {"EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend"}
    assert (parse_email_url("console:"), parse_email_url("")) == (console, {})
