"""Serves the sample company over HTTPS on this machine, and prints lines to paste."""

import secrets
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.management import CommandError, call_command
from django.db import DEFAULT_DB_ALIAS, connection
from django.utils import timezone
from typing_extensions import override

from agent_access.connections import (
    MAX_DAYS,
    ConnectionNotAllowedError,
    ConnectionRequest,
    create_connection,
    live_connections,
    revoke_connections,
)
from agent_access.models.connections import RevokedReason
from agent_access.operator_command import OperatorCommand
from agent_access.switches import turn_access
from agent_access.tools import registry
from invoicing.application_url import loopback_address, port_of
from invoicing.models import Company, Customer, TaxRate, User
from invoicing.quickstart.certificate import Certificate, ensure_certificate
from invoicing.quickstart.errors import QuickstartError
from invoicing.quickstart.first_steps import FirstSteps
from invoicing.quickstart.ports import require_free_port
from invoicing.quickstart.server import serve
from invoicing.sample_company.loading import BOOKKEEPER, choose_password, load_sample_company

CREDENTIAL_NOW = """
A connection acts for {user} for {days} days. Its credential, shown only now:

{credential}
"""
SIGN_INS = """
Sign in at the address below as {user} (bookkeeper, for whom the agent acts),
or as {owner} (owner). {password}
"""
SHOWN_NOW = "Their password, shown only now: {password}"
AS_BEFORE = "Their password is unchanged; one_time_link prints a link to choose a new one."
NO_CREDENTIAL = """
A credential is shown once, when its connection is created. This creates another connection:

{python} manage.py connect_agent --user {user} --days {days} \\
  --scopes {scopes}
"""
LINES = """
What an agent does with it, to paste into another shell:

{lines}
The same for MCP clients, Claude Code and the Inspector, in that shell:

{for_mcp}"""
PLACEHOLDER = "ivc_..."


class Command(OperatorCommand):
    help = "Serves the sample company over HTTPS on this machine until Ctrl-C."

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        # manage.py reads --port first, to set BASE_URL before the settings are loaded.
        parser.add_argument("--port", type=int, help="at first 8443, then the one used last")
        parser.add_argument(
            "--password", help="of every person; else SAMPLE_PASSWORD, else a random one"
        )

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._check_address(options["port"])
            self._prepare_database(options["password"])
            self._prepare_pages()
            certificate = self._prepare_certificate()
            credential = self._prepare_access()
        except QuickstartError as error:
            raise CommandError(str(error)) from None
        except KeyboardInterrupt:
            raise CommandError("Stopped before it was ready; the next start continues.") from None
        self._show_first_steps(certificate, credential)
        self._serve(certificate)

    def _check_address(self, port: int | None) -> None:
        if loopback_address(settings.BASE_URL) is None:
            raise QuickstartError(
                "BASE_URL is not this machine: the quickstart is for a first look at localhost."
            )
        if port not in {None, port_of(settings.BASE_URL)}:
            raise QuickstartError(
                "BASE_URL in the environment names another port: leave out --port, or BASE_URL."
            )
        require_free_port(settings.BASE_URL)

    def _prepare_database(self, password: str | None) -> None:
        _refuse_what_cannot_be_migrated()
        _refuse_another_company()
        self._say("Database: bringing it up to date ...")
        call_command("migrate", verbosity=0, interactive=False)
        if Company.objects.exists():
            self._say("Sample company: kept as it is.")
            self._say_sign_ins(AS_BEFORE)
            return
        self._say("Sample company: loading Halden Works ...")
        chosen = choose_password(password)
        load_sample_company(password=chosen.text)
        shown = chosen.text if chosen.is_new else "the one that you gave"
        self._say_sign_ins(SHOWN_NOW.format(password=shown))

    def _say_sign_ins(self, password: str) -> None:
        owner = Company.objects.get().owner.email
        self._say(SIGN_INS.format(user=BOOKKEEPER, owner=owner, password=password))

    def _prepare_pages(self) -> None:
        with _using_var():
            call_command("collectstatic", verbosity=0, interactive=False)

    def _prepare_certificate(self) -> Certificate:
        with _using_var():
            certificate = ensure_certificate(settings.VAR_DIR, now=timezone.now())
        self._say(f"Certificate: valid until {certificate.expires_at:%Y-%m-%d}.")
        return certificate

    def _prepare_access(self) -> str | None:
        """Turn agent access on; return the credential of a new connection if there was none."""
        turn_access(on=True)
        self._say("Agent access: on.")
        elsewhere = live_connections().exclude(base_url=settings.BASE_URL)
        ended = revoke_connections(elsewhere, reason=RevokedReason.APPLICATION_URL_CHANGED)
        if ended:
            self._say(f"The address has changed, which ended live connections: {ended}.")
        return None if live_connections().exists() else self._connect_first_agent()

    def _connect_first_agent(self) -> str | None:
        request = ConnectionRequest(
            user=User.objects.get_by_natural_key(BOOKKEEPER),
            scopes=registry.scopes,
            days=MAX_DAYS,
            name="Quickstart",
        )
        try:
            return create_connection(request)[1]
        except ConnectionNotAllowedError as error:
            self._say(f"No connection was made. {error}")
            return None

    def _show_first_steps(self, certificate: Certificate, credential: str | None) -> None:
        text = CREDENTIAL_NOW if credential else NO_CREDENTIAL
        self._say(
            text.format(
                user=BOOKKEEPER,
                days=MAX_DAYS,
                credential=credential,
                python=sys.executable,
                scopes=",".join(registry.scopes),
            )
        )
        steps = _first_steps(certificate)
        if steps:
            lines = steps.write(credential or PLACEHOLDER)
            self._say(LINES.format(lines=lines, for_mcp=steps.write_for_mcp()))

    def _serve(self, certificate: Certificate) -> None:
        serve(
            settings.WSGI_APPLICATION,
            base_url=settings.BASE_URL,
            certificate=certificate,
            log_config=settings.BASE_DIR / "deploy" / "granian.json",
            on_ready=lambda: self._say(f"Ready: {settings.BASE_URL} answers. Ctrl-C stops it."),
        )
        self._say("Stopped.")

    def _say(self, text: str) -> None:
        # Flushed, for whoever reads through a pipe.
        self.stdout.write(text)
        self.stdout.flush()


@contextmanager
def _using_var() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise QuickstartError(f"{settings.VAR_DIR} cannot be used: {error.strerror}.") from None


def _refuse_what_cannot_be_migrated() -> None:
    """Raise QuickstartError for what migrate refuses; call_command() lets it skip its checks."""
    found = checks.run_checks(tags=[checks.Tags.database], databases=[DEFAULT_DB_ALIAS])
    serious = (each for each in found if each.is_serious() and not each.is_silenced())
    errors = [f"{each.msg} {each.hint or ''}".strip() for each in serious]
    if errors:
        raise QuickstartError(" ".join(errors))


def _refuse_another_company() -> None:
    """Raise QuickstartError for another company: its owner decides about agent access."""
    table = Company._meta.db_table
    if table not in connection.introspection.table_names():
        return
    is_sample = User.objects.filter(email=BOOKKEEPER).exists()
    if Company.objects.exists() and not is_sample:
        raise QuickstartError("DATABASE_URL names the database of a company other than the sample.")


def _first_steps(certificate: Certificate) -> FirstSteps | None:
    """Return the lines to paste, or None if no active customer or tax rate is left for a draft."""
    customer = Customer.objects.filter(is_active=True).order_by("id").first()
    tax_rate = TaxRate.objects.filter(is_active=True).order_by("id").first()
    if customer is None or tax_rate is None:
        return None
    return FirstSteps(
        folder=settings.BASE_DIR,
        authority=certificate.authority,
        base_url=settings.BASE_URL,
        customer=customer,
        tax_rate=tax_rate,
        today=timezone.localdate(),
        key=f"first-{secrets.token_hex(4)}",
    )
