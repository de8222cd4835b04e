"""What clients of browser sign-in do, and people who allow them."""

from dataclasses import replace

from django.utils import timezone

from agent_access.audit import make_origin
from agent_access.models.audit import Transport
from agent_access.oauth.asking import Asker, allow, ask, mint_code, refuse
from agent_access.oauth.authorization import make_connection
from agent_access.oauth.client_documents import refresh_client
from agent_access.oauth.client_metadata import ClientMetadata
from agent_access.oauth.clients import delete_client, end_connections_of
from agent_access.oauth.registration import register_client
from agent_access.oauth.repeats import renew_code
from agent_access.oauth.retention import forget_old_tokens, forget_tokens_of, forget_unused_clients
from tests.agents import Answer
from tests.races.clients import DAYS, DOCUMENT, READ, consent_of
from tests.races.stage import Stage
from tests.races.table import Thing, act

PERSON = (Thing.PERSON,)
OF_CLIENT = (Thing.CLIENT, Thing.CONNECTION)
WEB = make_origin(Transport.WEB)


@act("a client refreshes its tokens", *OF_CLIENT, needs=PERSON)
def refresh(stage: Stage) -> str:
    return status_of(stage.clients.program.refresh(stage.clients.pair["refresh_token"]))


@act("a thief refreshes by a former token", *OF_CLIENT, needs=PERSON, ends=True)
def refresh_again(stage: Stage) -> str:
    return status_of(stage.clients.program.refresh(stage.clients.former))


@act("a client exchanges its code", *OF_CLIENT, needs=PERSON)
def exchange(stage: Stage) -> str:
    return status_of(stage.clients.program.exchange(stage.clients.code))


@act("a client revokes its token", *OF_CLIENT, ends=True)
def revoke(stage: Stage) -> str:
    """Where agents were stopped and nothing is found, or the client is gone, it is as dead."""
    told = status_of(stage.clients.program.revoke(stage.clients.pair["access_token"]))
    return "200" if told.startswith(("401", "404")) else told


def status_of(answer: Answer) -> str:
    """Return the status and what is wrong, without the tokens."""
    told = answer.body.get("error", "") if answer.content else ""
    return f"{answer.status} {told}".strip()


@act("a client registers", Thing.CLIENT)
def register(stage: Stage) -> None:
    register_client(ClientMetadata("Another", ("https://another.example/",)), origin=WEB)


@act("the owner allows a client", *OF_CLIENT, needs=PERSON)
def consent(stage: Stage) -> None:
    owner = stage.seen_by(stage.people.owner)
    asked = consent_of(owner, stage.people.dana, stage.clients.authorization)
    asked = replace(asked, connection_id=stage.seen.new_connection)
    make_connection(stage.clients.authorization, asked, decided_at=timezone.now())


@act("the owner sends their consent again", *OF_CLIENT, needs=PERSON)
def consent_again(stage: Stage) -> None:
    owner = stage.seen_by(stage.people.owner)
    asked = consent_of(owner, stage.people.dana, stage.clients.authorization)
    renew_code(replace(asked, connection_id=stage.clients.unused), origin=WEB)


@act("a client's document is read", Thing.CLIENT, has_parts=True)
def read_document(stage: Stage) -> None:
    """As somebody asks for a client that names itself by an address."""
    refresh_client(DOCUMENT, origin=WEB)


@act("a registration forgets unused clients", Thing.CLIENT)
def forget_clients(stage: Stage) -> str:
    return f"done: {forget_unused_clients(100)}"


@act("the person asks the owner for a client", Thing.CLIENT, Thing.NOTICE, needs=PERSON)
def ask_owner(stage: Stage) -> None:
    asker = Asker(person=stage.seen_by(stage.people.dana), session_key="session")
    ask(stage.clients.authorization, asker, scopes=READ, days=DAYS)


@act("the owner allows what was asked", Thing.CLIENT, needs=PERSON)
def allow_asked(stage: Stage) -> None:
    owner = stage.seen_by(stage.people.owner)
    allow(stage.clients.asked, owner=owner, scopes=READ, days=DAYS, origin=WEB)


@act("the owner refuses what was asked", Thing.CLIENT, needs=PERSON)
def refuse_asked(stage: Stage) -> None:
    refuse(stage.clients.asked, owner=stage.seen_by(stage.people.owner), origin=WEB)


@act("the person fetches what was allowed", *OF_CLIENT, needs=PERSON)
def fetch(stage: Stage) -> None:
    dana = stage.seen_by(stage.people.dana)
    mint_code(stage.clients.allowed, stage.clients.allowed_authorization, dana)


@act("the owner ends a client's connections", *OF_CLIENT, ends=True)
def end_client(stage: Stage) -> None:
    end_connections_of(stage.clients.authorization.client, by=stage.acting(stage.people.owner))


@act("the tokens of an ended client are deleted", *OF_CLIENT, has_parts=True, goes_on=True)
def forget_client(stage: Stage) -> None:
    forget_tokens_of(stage.clients.authorization.client, by=stage.acting(stage.people.owner))


@act("the owner deletes a client", *OF_CLIENT, ends=True)
def delete(stage: Stage) -> None:
    client = type(stage.clients.authorization.client).objects.filter(
        client_id=stage.clients.program.client_id
    )
    for each in client:
        delete_client(each, by=stage.acting(stage.people.owner))


@act("an operator forgets old tokens", *OF_CLIENT, has_parts=True, goes_on=True)
def forget(stage: Stage) -> None:
    forget_old_tokens()
