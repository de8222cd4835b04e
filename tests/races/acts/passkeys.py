"""What people do with passkeys, and the owner with the rules of what has to be signed."""

from typing import Any

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest

from agent_access.models import AccessSettings
from agent_access.passkeys.challenges import make_challenge
from agent_access.passkeys.confirming import PasskeyConfirmer
from agent_access.passkeys.keeping import (
    NewPasskey,
    add_by_link,
    add_passkey,
    make_link,
    remove_passkey,
    rename_passkey,
)
from agent_access.passkeys.models import SigningRules
from agent_access.passkeys.ruling import change_rules
from agent_access.signing import Proof
from invoicing.administration.passkeys import make_passkey_link_as_operator, require_passkeys
from tests.browsers import Browser
from tests.races.stage import COOKIE, PAGE, SESSION, Stage
from tests.races.table import Thing, act

PERSON = (Thing.PERSON,)


@act("the person adds a passkey", Thing.PASSKEY, needs=PERSON)
def add(stage: Stage) -> None:
    dana = stage.people.dana
    new = NewPasskey(registration=stage.keys.registered, name="Phone")
    allowed_by = stage.keys.signed["add"]
    add_passkey(stage.acting(dana), dana, new, session=SESSION, allowed_by=allowed_by)


@act("the person adds a passkey by link", Thing.PASSKEY, Thing.PERSON, Thing.CONNECTION)
def recover(stage: Stage) -> None:
    new = NewPasskey(registration=stage.keys.recovered, name="Phone")
    add_by_link(stage.nobody(), new, session=SESSION, link=stage.seen.link)


@act("the person renames a passkey", Thing.PASSKEY, needs=PERSON)
def rename(stage: Stage) -> None:
    dana = stage.people.dana
    rename_passkey(stage.acting(dana), dana, stage.keys.passkey.pk, name="Old key")


@act("the person removes a passkey", Thing.PASSKEY, Thing.PERSON, Thing.CONNECTION)
def remove(stage: Stage) -> None:
    dana, allowed_by = stage.people.dana, stage.keys.signed["remove"]
    pk = stage.keys.passkey.pk
    remove_passkey(stage.acting(dana), dana, pk, session=SESSION, allowed_by=allowed_by)


@act("the person confirms a page with a passkey", Thing.PASSKEY, needs=PERSON)
def confirm(stage: Stage) -> str:
    text = stage.keys.signed["confirm"]
    dana = stage.people.dana
    is_confirmed = PasskeyConfirmer().is_confirmed(dana, text, page=PAGE, session=SESSION)
    return "done" if is_confirmed else "not confirmed"


@act("the person is asked for a passkey", Thing.PASSKEY, needs=PERSON)
def be_asked(stage: Stage) -> None:
    make_challenge("confirm", session=SESSION, person=stage.people.dana, page="c" * 64)


@act("an administrator makes a link for a passkey", Thing.PASSKEY, needs=PERSON)
def give_link(stage: Stage) -> None:
    """They have no passkey themselves, which would have to allow it."""
    admin = stage.people.admin
    make_link(stage.acting(admin), stage.people.dana, maker=admin)


@act("an operator makes a link for a passkey", Thing.PASSKEY, needs=PERSON)
def give_link_as_operator(stage: Stage) -> None:
    make_passkey_link_as_operator(stage.people.dana)


@act("the owner demands signatures", Thing.PASSKEY)
def demand(stage: Stage) -> None:
    owner = stage.people.owner
    with transaction.atomic():
        AccessSettings.lock()
        chosen = SigningRules(always=True)
        change_rules(stage.acting(owner), owner, chosen, Proof(assertion="", session=SESSION))


@act("the owner requires passkeys of everybody", Thing.PASSKEY, Thing.PERSON)
def require(stage: Stage) -> None:
    owner = stage.people.owner
    request: Any = HttpRequest()
    request.user, request.session = owner, stage.people.owner_desk.session
    day = stage.keys.required_from
    require_passkeys(request, day, stage.keys.signed["rule"])


@act(
    "the person signs in with a passkey",
    Thing.PASSKEY,
    Thing.PERSON,
    has_parts=True,
    goes_on=True,
)
def sign_in(stage: Stage) -> Any:
    browser = Browser()
    browser.cookies[settings.CSRF_COOKIE_NAME] = COOKIE
    return browser.post("/sign-in/passkey", {"assertion": stage.keys.signed["sign-in"]})
