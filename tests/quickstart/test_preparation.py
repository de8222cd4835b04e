"""What the quickstart prepares, in this process, with the server left out."""

import re
from datetime import timedelta
from functools import partial
from io import StringIO
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from agent_access.connections import (
    ConnectionRequest,
    create_connection,
    live_connections,
)
from agent_access.credentials import CREDENTIAL
from agent_access.database.triggers import drop, find_differences
from agent_access.models import AccessSettings, Connection
from agent_access.operator_command import UNWRITTEN
from agent_access.switches import turn_access
from agent_access.tools import registry
from config.environment import PROJECT_FOLDER
from invoicing.management.commands import quickstart
from invoicing.models import Company, Document, User
from invoicing.sample_company.loading import load_sample_company
from tests.factories import CompanyFactory
from tests.snapshots import take_snapshot

# A first look keeps its data in SQLite.
pytestmark = pytest.mark.sqlite

SQL = PROJECT_FOLDER / "invoicing" / "sql"
ADDRESS = "https://localhost:8443"
PASSWORD = "one-password-for-all-of-them"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, settings, tmp_path) -> list[str]:
    """The addresses at which a server would have begun to serve."""
    addresses: list[str] = []

    def serve(application, *, base_url, certificate, log_config, on_ready) -> None:
        addresses.append(base_url)
        on_ready()

    monkeypatch.setattr(quickstart, "serve", serve)
    monkeypatch.setattr(quickstart, "require_free_port", Mock())
    few = partial(load_sample_company, documents=2)
    monkeypatch.setattr(quickstart, "load_sample_company", few)
    settings.BASE_DIR, settings.VAR_DIR = tmp_path, tmp_path / "var"
    settings.VAR_DIR.mkdir()
    move_to(settings, ADDRESS)
    return addresses


def move_to(settings, address: str) -> None:
    settings.BASE_URL = address
    settings.AGENT_ACCESS = {**settings.AGENT_ACCESS, "BASE_URL": address}


def start(password: str | None = PASSWORD, **options: Any) -> str:
    output = StringIO()
    call_command("quickstart", stdout=output, password=password, **options)
    return output.getvalue()


@pytest.mark.django_db
def test_a_first_start_makes_the_company_and_one_connection(served):
    output = start()

    connection = live_connections().get()
    assert served == [ADDRESS]
    assert (Company.objects.get().name, Document.objects.count()) == ("Halden Works", 2)
    assert AccessSettings.read().access_on
    assert connection.user.email == "dana@halden.example"
    assert connection.grants == list(registry.scopes)
    assert connection.expires_at - connection.created_at == timedelta(days=30)
    assert output.endswith(f"Ready: {ADDRESS} answers. Ctrl-C stops it.\nStopped.\n")


@pytest.mark.django_db
def test_what_this_release_cannot_migrate_is_told_in_a_sentence(served):
    recorded = MigrationRecorder.Migration.objects.filter(app="invoices")
    recorded.filter(name__startswith="0001_squashed").delete()
    recorded.filter(name="0010_fewer_indexes").delete()
    with pytest.raises(CommandError, match=r"migrate of commit 7fc2028 first"):
        start()
    assert (served, Company.objects.count()) == ([], 0)


@pytest.mark.django_db
def test_what_migrate_mends_keeps_nobody_from_starting(served):
    drop(connection, SQL)
    start()
    assert (served, find_differences(connection, SQL)) == ([ADDRESS], [])


@pytest.mark.django_db
def test_a_second_start_changes_nothing_and_shows_no_credential_again(served):
    first = start()
    before = take_snapshot()
    second = start()
    assert take_snapshot() == before
    assert len(CREDENTIAL.findall(first)) == 1
    assert CREDENTIAL.findall(second) == []
    assert "manage.py connect_agent --user dana@halden.example --days 30" in second
    assert PASSWORD not in first + second
    for output in (first, second):
        assert "dana@halden.example (bookkeeper" in output
        assert "olivia@halden.example (owner;" in output
        assert f"claude mcp add --transport http invoicing {ADDRESS}/mcp \\\n" in output
        assert f"--cli {ADDRESS}/mcp --transport http" in output


@pytest.mark.django_db
def test_access_that_was_turned_off_is_on_again_with_a_new_connection(served):
    start()
    turn_access(on=False)

    output = start()

    assert AccessSettings.read().access_on
    assert Connection.objects.count() == 2
    assert live_connections().count() == 1
    assert len(CREDENTIAL.findall(output)) == 1


@pytest.mark.django_db
def test_another_port_says_how_many_connections_it_ends(served, settings):
    start()
    request = ConnectionRequest(
        user=User.objects.get(email="vera@halden.example"),
        scopes=["people:read"],
        days=1,
        name="Second",
    )
    create_connection(request)
    move_to(settings, "https://localhost:9443")

    output = start(port=9443)

    assert "The address has changed, which ended live connections: 2.\n" in output
    ended = Connection.objects.exclude(revoked_at=None).order_by("id")
    assert [each.revoked_reason for each in ended] == ["application_url_changed"] * 2
    assert live_connections().get().base_url == "https://localhost:9443"


@pytest.mark.django_db
def test_without_a_delegate_it_serves_and_says_why_there_is_no_connection(served):
    start()
    turn_access(on=False)
    User.objects.filter(email="dana@halden.example").update(is_active=False)

    output = start()

    assert "No connection was made. A connection acts only for an active person" in output
    assert served == [ADDRESS] * 2
    assert live_connections().count() == 0


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("address", "port", "sentence"),
    [
        (
            "https://localhost.example:8443",
            None,
            "BASE_URL is not this machine: the quickstart is for a first look at localhost.",
        ),
        (
            ADDRESS,
            9000,
            "BASE_URL in the environment names another port: leave out --port, or BASE_URL.",
        ),
    ],
)
def test_an_address_that_cannot_be_meant_is_refused(served, settings, address, port, sentence):
    move_to(settings, address)
    before = take_snapshot()

    with pytest.raises(CommandError) as refused:
        start(port=port)

    assert str(refused.value) == sentence
    assert (served, take_snapshot()) == ([], before)


@pytest.mark.django_db
def test_the_books_of_another_company_are_refused(served):
    CompanyFactory.create(name="Real Business Ltd")
    before = take_snapshot()

    with pytest.raises(CommandError) as refused:
        start()

    assert (
        str(refused.value) == "DATABASE_URL names the database of a company other than the sample."
    )
    assert (served, take_snapshot()) == ([], before)


@pytest.mark.django_db
def test_a_folder_that_cannot_be_written_is_told_in_a_sentence(served, settings, tmp_path):
    settings.VAR_DIR = tmp_path / "missing"

    with pytest.raises(CommandError) as refused:
        start()

    assert (
        str(refused.value) == f"{tmp_path / 'missing'} cannot be used: No such file or directory."
    )
    assert served == []


@pytest.mark.django_db
def test_output_that_nobody_reads_is_told_as_by_any_command(served):
    closed = Mock(**{"write.side_effect": BrokenPipeError})

    with pytest.raises(CommandError) as refused:
        call_command("quickstart", stdout=closed, password=PASSWORD)

    assert str(refused.value) == UNWRITTEN
    assert served == []


@pytest.mark.django_db
def test_ctrl_c_before_it_is_ready_is_told_in_a_sentence(served, monkeypatch):
    interrupt = Mock(side_effect=KeyboardInterrupt)
    monkeypatch.setattr(quickstart, "load_sample_company", interrupt)

    with pytest.raises(CommandError) as refused:
        start()

    assert str(refused.value) == "Stopped before it was ready; the next start continues."
    assert served == []


def read_blocks(document: str, language: str) -> list[str]:
    """Return the blocks of a language that a document shows."""
    text = (PROJECT_FOLDER / document).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.django_db
def test_readme_and_the_page_for_clients_show_what_is_printed(served, settings, monkeypatch):
    monkeypatch.delenv("SAMPLE_PASSWORD", raising=False)
    output = start(password=None)
    output = output.replace(f"CA={settings.VAR_DIR}/", "CA=$PWD/var/")
    output = CREDENTIAL.sub("ivc_...", output)
    [signing_in] = read_blocks("README.md", "text")
    output = re.sub(r"(?<=Password:  )\S+", signing_in.split("Password:  ")[1].split()[0], output)

    for_people, for_agents = output.split("\nFor ")[1:]
    assert for_people.partition("\n\n")[2] == signing_in
    lines, for_mcp = for_agents.partition("\n\n")[2].split("\nThe same for MCP clients")
    assert lines == "\n".join(read_blocks("README.md", "sh"))
    mcp_lines = for_mcp.partition("\n\n")[2].partition("Ready: ")[0]
    assert mcp_lines in "\n".join(read_blocks("docs/clients.md", "sh"))
