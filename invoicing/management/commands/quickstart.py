"""Serves the sample company over HTTPS on this machine, and prints lines to paste."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.management import CommandError, call_command
from django.db import DEFAULT_DB_ALIAS, connection
from django.template.loader import render_to_string
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
from agent_access.telling.worker import work_beside
from agent_access.tools import registry
from invoicing.application_url import loopback_address, port_of
from invoicing.models import Company, User
from invoicing.quickstart.certificate import Certificate, ensure_certificate
from invoicing.quickstart.errors import QuickstartError
from invoicing.quickstart.first_steps import FirstSteps
from invoicing.quickstart.ports import require_free_port
from invoicing.quickstart.server import serve
from invoicing.sample_company.loading import BOOKKEEPER, choose_password, load_sample_company

SHOWN_NOW = "{password} (of both, shown only now)"
AS_GIVEN = "the one that you gave"
AS_BEFORE = "as before; one_time_link prints a link to choose a new one"
PLACEHOLDER = "ivc_..."
SEARCH = "search=altmuhl"  # finds a customer of the sample company, whose name has an umlaut


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
            certificate = self._prepare_files()
            password = self._prepare_database(options["password"])
            credential = self._prepare_access()
        except QuickstartError as error:
            raise CommandError(str(error)) from None
        except KeyboardInterrupt:
            raise CommandError("Stopped before it was ready; the next start continues.") from None
        self._show(certificate, password, credential)
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

    def _prepare_files(self) -> Certificate:
        try:
            call_command("collectstatic", verbosity=0, interactive=False)
            certificate = ensure_certificate(settings.VAR_DIR, now=timezone.now())
        except OSError as error:
            raise QuickstartError(f"{settings.VAR_DIR} cannot be used: {error.strerror}.") from None
        self._say(f"Certificate: valid until {certificate.expires_at:%Y-%m-%d}.")
        return certificate

    def _prepare_database(self, password: str | None) -> str:
        """Load the sample company if there is none; return what to say of its people's password."""
        _refuse_what_cannot_be_migrated()
        _refuse_another_company()
        self._say("Database: bringing it up to date ...")
        call_command("migrate", verbosity=0, interactive=False)
        if Company.objects.exists():
            self._say("Sample company: kept as it is.")
            return AS_BEFORE
        self._say("Sample company: loading Halden Works ...")
        chosen = choose_password(password)
        load_sample_company(password=chosen.text)
        return SHOWN_NOW.format(password=chosen.text) if chosen.is_new else AS_GIVEN

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

    def _show(self, certificate: Certificate, password: str, credential: str | None) -> None:
        steps = FirstSteps(
            base_url=settings.BASE_URL,
            credential=credential or PLACEHOLDER,
            grants=registry.scopes,
            query=SEARCH,
            authority=certificate.authority,
        )
        values = {
            "steps": steps,
            "person": BOOKKEEPER,
            "owner": Company.objects.get().owner.email,
            "password": password,
            "credential": credential,
            "days": MAX_DAYS,
            "python": sys.executable,
            "scopes": ",".join(registry.scopes),
        }
        self._say(render_to_string("invoicing/quickstart.txt", values).rstrip())

    def _serve(self, certificate: Certificate) -> None:
        with work_beside():
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
