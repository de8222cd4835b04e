"""What is forgotten and when: never what could still show a second use."""

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
import time_machine
from django.core.management import CommandError, call_command, get_commands
from django.db import connection
from django.utils import timezone

from agent_access.audit import Actor, Origin
from agent_access.models import AuditEvent, Connection
from agent_access.models.audit import Transport
from agent_access.oauth import retention
from agent_access.oauth.clients import delete_client
from agent_access.oauth.models import AccessToken, Application, Grant, RefreshToken
from agent_access.switches import turn_sign_in
from agent_access.verification import find_breaks
from tests.interface.refusals import nothing_changes
from tests.threads import Encounter, run_together

MICROSECOND = timedelta(microseconds=1)


def forget() -> str:
    told = StringIO()
    call_command("forget_old_tokens", stdout=told)
    return told.getvalue()


def deleted(*, access: int = 0, refresh: int = 0, codes: int = 0, asked: int = 0) -> str:
    return (
        f"Deleted: access tokens {access}, refresh tokens {refresh}, codes {codes},"
        f" access requests {asked}, clients 0.\n"
    )


def kept() -> tuple[int, int, int]:
    return AccessToken.objects.count(), RefreshToken.objects.count(), Grant.objects.count()


def test_what_a_live_connection_could_see_used_twice_is_kept(program, code, pair):
    newest = program.refresh(pair["refresh_token"]).body
    with time_machine.travel(timezone.now() + timedelta(days=29)):
        assert forget() == deleted(access=2)
        assert kept() == (0, 2, 1)
        assert program.refresh(newest["refresh_token"]).status == 200
        assert program.refresh(pair["refresh_token"]).status == 400
    assert Connection.objects.get().revoked_reason == "refresh_reuse"


def test_an_access_token_is_forgotten_seven_days_after_it_expired(pair):
    expired = AccessToken.objects.get().expires
    with time_machine.travel(expired + timedelta(days=7), tick=False) as clock:
        with nothing_changes():
            assert forget() == deleted()
        clock.shift(MICROSECOND)
        forget()
    assert kept() == (0, 1, 1)


@pytest.mark.parametrize("ending", ["expired", "revoked"])
def test_all_is_forgotten_thirty_days_after_the_connection_ended(program, code, pair, ending):
    connection = Connection.objects.get()
    ended = connection.expires_at
    if ending == "revoked":
        turn_sign_in(on=False)
        turn_sign_in(on=True)
        ended = Connection.objects.values_list("revoked_at", flat=True).get() or ended
    with time_machine.travel(ended + timedelta(days=30), tick=False) as clock:
        forget()
        assert kept() == (0, 1, 1)
        clock.shift(MICROSECOND)
        assert forget() == deleted(refresh=1, codes=1)
        forget()  # finds nothing more, and writes nothing down
        assert kept() == (0, 0, 0)
        assert program.exchange(code).body["error"] == "invalid_grant"
        assert program.revoke(pair["refresh_token"]).status == 200
    assert Connection.objects.get() == connection
    assert Application.objects.get().client_id == program.client_id
    told = AuditEvent.objects.filter(action="tokens:forgotten").order_by("sequence")
    rows = [(f"1 {kind}", "command") for kind in ("access tokens", "refresh tokens", "codes")]
    assert list(told.values_list("detail", "transport")) == rows
    assert list(find_breaks()) == []


def test_what_was_forgotten_before_an_interruption_is_audited(pair, monkeypatch):
    delete_some = retention._delete_some

    def stop_at_the_codes(rows: Any, at_most: int) -> int:
        if rows.model is Grant:
            raise KeyboardInterrupt
        return delete_some(rows, at_most)

    monkeypatch.setattr(retention, "_delete_some", stop_at_the_codes)
    with time_machine.travel(timezone.now() + timedelta(days=61)), pytest.raises(CommandError):
        forget()
    assert kept() == (0, 0, 1)
    told = AuditEvent.objects.filter(action="tokens:forgotten").order_by("sequence")
    assert list(told.values_list("detail", flat=True)) == ["1 access tokens", "1 refresh tokens"]


def test_clients_without_a_connection_are_forgotten_and_others_stay(
    program, pair, register_program
):
    register_program("https://unused.example/")
    with time_machine.travel(timezone.now() + timedelta(days=31)):
        assert forget().endswith("clients 1.\n")
    assert Application.objects.get().client_id == program.client_id


@pytest.mark.parametrize("command", ["cleartokens", "clearcimdapplications"])
def test_a_command_of_the_toolkit_is_its_own_and_clears_its_own_tables(pair, monkeypatch, command):
    assert get_commands()[command] == "oauth2_provider"
    Application.objects.update(registration_source=Application.RegistrationSource.CIMD)
    monkeypatch.undo()  # it reads its own tables and settings
    with nothing_changes(), time_machine.travel(timezone.now() + timedelta(days=61)):
        call_command(command)


@pytest.mark.postgresql  # SQLite has one writer, and no circle
@pytest.mark.django_db(transaction=True)
def test_forgetting_tokens_and_deleting_their_client_never_wait_in_a_circle(owner, pair):
    """A refresh token points to the access token that was given with it."""
    AccessToken.objects.update(expires=timezone.now() - timedelta(days=8))
    client, encounter = Application.objects.get(), Encounter()
    by = Actor(Origin(transport=Transport.WEB), owner.pk)

    def hold(run: Any, sql: str, *args: Any) -> Any:
        if sql.startswith(f'UPDATE "{RefreshToken._meta.db_table}"'):
            encounter.wait_here()
        return run(sql, *args)

    def forget_slowly() -> str:
        with connection.execute_wrapper(hold):
            return forget()

    def delete() -> None:
        encounter.come(lambda: delete_client(client, by=by))

    forgotten, _ = run_together([forget_slowly, delete])
    assert forgotten == deleted(access=1)
    assert (*kept(), Application.objects.count()) == (0, 0, 0, 0)
    assert list(find_breaks()) == []
