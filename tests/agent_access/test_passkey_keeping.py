"""Passkeys added, named and removed, and everybody who may not."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from agent_access.audit import Actor, make_origin
from agent_access.models import AuditEvent, Connection
from agent_access.models.audit import Transport
from agent_access.passkeys.challenges import challenge_bytes, make_challenge
from agent_access.passkeys.keeping import (
    NewPasskey,
    add_by_link,
    add_passkey,
    make_link,
    remove_passkey,
    rename_passkey,
)
from agent_access.passkeys.models import Challenge, Passkey
from agent_access.passkeys.refusals import NameInvalidError, PasskeyRefusedError, Reason
from invoicing.administration.sign_ins import sign_out_everywhere
from invoicing.models import User
from tests.factories import UserFactory
from tests.passkeys import SoftPasskey, digest_of

pytestmark = pytest.mark.django_db

SESSION = "a" * 64


@pytest.fixture
def soft() -> SoftPasskey:
    return SoftPasskey(counter=5)


@pytest.fixture
def kept(soft, delegate):
    return soft.keep_for(delegate)


def make_user(**fields: Any) -> Any:
    return UserFactory(**fields)


def by(person: User | None) -> Actor:
    return Actor(make_origin(Transport.WEB), person.pk if person else None)


def ask(purpose: str, person: User, session: str = SESSION, **content: str) -> bytes:
    return challenge_bytes(make_challenge(purpose, session=session, person=person, **content))


def make_new(person: User, *, purpose: str = "register", name: str = "Phone") -> NewPasskey:
    text = SoftPasskey().register(ask(purpose, person))
    return NewPasskey(registration=text, name=name, is_apart=True)


def add(person: User, assertion: str, new: NewPasskey | None = None) -> Passkey:
    new = new or make_new(person)
    return add_passkey(by(person), person, new, session=SESSION, allowed_by=assertion)


def remove(person: User, passkey: Passkey, assertion: str) -> Any:
    return remove_passkey(by(person), person, passkey.pk, session=SESSION, allowed_by=assertion)


def use_link(person: User, link: str) -> Passkey:
    new = make_new(person, purpose="recover")
    return add_by_link(by(None), new, session=SESSION, link=link)


def events() -> list[Any]:
    found = AuditEvent.objects.filter(action__startswith="passkey:").order_by("sequence")
    return [*found.values("action", "actor_id", "target", "outcome", "detail", "content_digest")]


def event(action: str, actor: User | None, person: User, **told: object) -> dict[str, object]:
    return {
        "action": f"passkey:{action}",
        "actor_id": actor and actor.pk,
        "target": str(person.pk),
        "outcome": "ok",
        "detail": "",
        "content_digest": None,
        **told,
    }


def event_of(action: str, passkey: Passkey) -> dict[str, object]:
    person = passkey.person
    told = {"detail": str(passkey.pk), "content_digest": digest_of(passkey.public_key)}
    return event(action, person, person, **told)


class Refusing:
    """Shows that something was refused, changed nothing, and was audited."""

    def __init__(self, reason: Reason, person: User, *, actor: User | None) -> None:
        self.told = event("refused", actor, person, outcome="refused", detail=reason.value)
        self.expected = pytest.raises(PasskeyRefusedError)

    def __enter__(self) -> None:
        self.before = self.state()
        self.events = events()
        self.expected.__enter__()

    def __exit__(self, *raised: object) -> bool:
        handled = self.expected.__exit__(*raised)  # type: ignore[arg-type]  # what `with` hands over
        assert events() == [*self.events, self.told]
        assert self.state() == self.before
        return bool(handled)

    def state(self) -> list[object]:
        return [
            *Passkey.objects.order_by("pk").values(),
            *Challenge.objects.exclude(used_at=None).order_by("pk").values(),
            *User.objects.order_by("pk").values_list("pk", "session_revision"),
            *Connection.objects.order_by("pk").values_list("pk", "revoked_at"),
        ]


def test_a_passkey_allows_another_one(soft, kept, delegate):
    added = add(delegate, soft.sign(ask("add", delegate)))
    assert [*Passkey.objects.kept_by(delegate)] == [kept, added]
    assert (added.name, added.is_apart, added.is_synced) == ("Phone", True, False)
    assert events() == [event_of("added", added)]


def test_what_was_added_can_sign(soft, kept, delegate):
    other = SoftPasskey()
    new = NewPasskey(registration=other.register(ask("register", delegate)), name="Key")
    added = add(delegate, soft.sign(ask("add", delegate)), new)
    remove(delegate, kept, other.sign(ask("remove", delegate, about=str(kept.pk))))
    assert [*Passkey.objects.kept_by(delegate)] == [added]


def test_a_passkey_removes_itself_and_all_sessions_end(soft, kept, delegate, connection):
    person = remove(delegate, kept, soft.sign(ask("remove", delegate, about=str(kept.pk))))
    assert not Passkey.objects.kept_by(delegate).exists()
    assert person.session_revision == delegate.session_revision + 1
    connection.refresh_from_db()
    assert connection.revoked_reason == "sessions_ended"
    assert events() == [event_of("removed", kept)]


def test_a_passkey_gets_another_name(kept, delegate):
    rename_passkey(by(delegate), delegate, kept.pk, name=" Work laptop ")
    kept.refresh_from_db()
    assert kept.name == "Work laptop"
    assert events() == [event_of("renamed", kept)]


@pytest.mark.parametrize("name", ["", "  ", "a" * 101, "two\nlines", "in\u200bvisible", "\0"])
def test_a_name_that_nobody_can_read_is_refused(soft, kept, delegate, name):
    with pytest.raises(NameInvalidError):
        rename_passkey(by(delegate), delegate, kept.pk, name=name)
    with pytest.raises(NameInvalidError):
        add(delegate, soft.sign(ask("add", delegate)), make_new(delegate, name=name))
    assert [each.name for each in Passkey.objects.all()] == ["Soft passkey"]
    assert events() == []


def test_the_first_passkey_comes_by_a_link(owner, delegate, connection):
    link = make_link(by(owner), delegate, maker=owner)
    added = use_link(delegate, link)
    assert [*Passkey.objects.kept_by(delegate)] == [added]
    assert added.person.session_revision == delegate.session_revision + 1
    connection.refresh_from_db()
    assert connection.revoked_reason == "sessions_ended"
    assert events() == [event("link_made", owner, delegate), event_of("added", added)]


def test_a_link_replaces_all_passkeys_that_were_lost(kept, owner, delegate):
    other = SoftPasskey().keep_for(delegate)
    stranger = SoftPasskey().keep_for(make_user())
    added = use_link(delegate, make_link(by(owner), delegate, maker=owner))
    assert [*Passkey.objects.kept_by(delegate)] == [added]
    assert [*Passkey.objects.kept_by(stranger.person)] == [stranger]
    assert events()[1:] == [
        event_of("removed", kept),
        event_of("removed", other),
        event_of("added", added),
    ]


def test_an_operator_gives_the_owner_a_link(owner):
    added = use_link(owner, make_link(by(None), owner, maker=None))
    assert added.person == owner
    assert events() == [event("link_made", None, owner), event_of("added", added)]


# What a program has that holds the session, the password and the page, but no passkey.


def test_without_an_assertion_none_is_added_or_removed(kept, delegate):
    for text in ("", "{}", SoftPasskey().register(ask("add", delegate))):
        with Refusing(Reason.ASSERTION, delegate, actor=delegate):
            add(delegate, text)
        with Refusing(Reason.ASSERTION, delegate, actor=delegate):
            remove(delegate, kept, text)


def test_who_has_no_passkey_cannot_add_the_first_by_themselves(delegate):
    foreign = SoftPasskey()
    for text in ("", foreign.sign(ask("add", delegate))):
        with Refusing(Reason.ASSERTION, delegate, actor=delegate):
            add(delegate, text)


@pytest.mark.parametrize(
    "lie",
    [
        {"verifies": False},
        {"is_present": False},
        {"origin": "https://attacker.example"},
        {"rp_id": "attacker.example"},
        {"is_framed": True},
        {"counter": 5},
        {"counter": 4},
        {"key": SoftPasskey().key},
    ],
    ids=lambda lie: " ".join(map(str, lie)) + str(lie.get("counter", "")),
)
def test_a_lie_allows_nothing(soft, kept, delegate, lie):
    with Refusing(Reason.ASSERTION, delegate, actor=delegate):
        add(delegate, soft.sign(ask("add", delegate), **lie))
    removing = ask("remove", delegate, about=str(kept.pk))
    with Refusing(Reason.ASSERTION, delegate, actor=delegate):
        remove(delegate, kept, soft.sign(removing, **lie))


@pytest.mark.parametrize(
    "lie",
    [
        {"verifies": False},
        {"is_present": False},
        {"origin": "https://attacker.example"},
        {"rp_id": "attacker.example"},
        {"is_framed": True},
    ],
    ids=lambda lie: next(iter(lie)),
)
def test_a_passkey_that_was_made_elsewhere_is_not_added(soft, kept, owner, delegate, lie):
    link = make_link(by(owner), delegate, maker=owner)
    text = SoftPasskey().register(ask("register", delegate), **lie)
    with Refusing(Reason.REGISTRATION, delegate, actor=delegate):
        add(delegate, soft.sign(ask("add", delegate)), NewPasskey(registration=text, name="Key"))
    text = SoftPasskey().register(ask("recover", delegate), **lie)
    with Refusing(Reason.REGISTRATION, delegate, actor=None):
        new = NewPasskey(registration=text, name="Key")
        add_by_link(by(None), new, session=SESSION, link=link)


def test_an_assertion_is_not_used_again(soft, kept, delegate):
    text = soft.sign(ask("add", delegate))
    add(delegate, text)
    with Refusing(Reason.ASSERTION, delegate, actor=delegate):
        add(delegate, text)


def test_a_registration_is_not_used_again(soft, kept, delegate):
    new = replace(make_new(delegate), is_apart=False)
    add(delegate, soft.sign(ask("add", delegate)), new)
    with Refusing(Reason.REGISTRATION, delegate, actor=delegate):
        add(delegate, soft.sign(ask("add", delegate)), new)


@pytest.mark.parametrize("purpose", ["register", "remove", "recover", "approve", "do", "sign-in"])
def test_an_assertion_of_another_purpose_adds_nothing(soft, kept, delegate, purpose):
    with Refusing(Reason.ASSERTION, delegate, actor=delegate):
        add(delegate, soft.sign(ask(purpose, delegate)))


def test_an_assertion_removes_only_the_passkey_that_it_names(soft, kept, delegate):
    other = SoftPasskey().keep_for(delegate)
    for content in ({"about": str(other.pk)}, {}):
        with Refusing(Reason.ASSERTION, delegate, actor=delegate):
            remove(delegate, kept, soft.sign(ask("remove", delegate, **content)))
    with Refusing(Reason.ASSERTION, delegate, actor=delegate):
        remove(delegate, kept, soft.sign(ask("add", delegate)))


def test_another_persons_passkey_allows_nothing(kept, delegate):
    stranger = make_user()
    theirs = SoftPasskey()
    theirs.keep_for(stranger)
    for asked_of in (stranger, delegate):
        with Refusing(Reason.ASSERTION, delegate, actor=delegate):
            add(delegate, theirs.sign(ask("add", asked_of)))


def test_nobody_changes_another_persons_passkey(soft, kept, delegate):
    stranger = make_user()
    theirs = SoftPasskey().keep_for(stranger)
    asked = ask("remove", delegate, about=str(theirs.pk))
    with Refusing(Reason.GONE, delegate, actor=delegate):
        remove(delegate, theirs, soft.sign(asked))
    with Refusing(Reason.GONE, delegate, actor=delegate):
        rename_passkey(by(delegate), delegate, theirs.pk, name="Mine")


def test_what_another_session_or_an_earlier_time_asked_for_allows_nothing(soft, kept, delegate):
    late = ask("add", delegate)
    Challenge.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    for challenge in (late, ask("add", delegate, session="b" * 64)):
        with Refusing(Reason.ASSERTION, delegate, actor=delegate):
            add(delegate, soft.sign(challenge))


def test_a_session_that_was_ended_changes_nothing(soft, kept, delegate):
    asked = ask("add", delegate)
    sign_out_everywhere(by(delegate), delegate.pk)
    with Refusing(Reason.SIGNED_OUT, delegate, actor=delegate):
        add(delegate, soft.sign(asked))
    with Refusing(Reason.SIGNED_OUT, delegate, actor=delegate):
        rename_passkey(by(delegate), delegate, kept.pk, name="Other")


def test_a_passkey_is_removed_once(soft, kept, delegate):
    texts = [soft.sign(ask("remove", delegate, about=str(kept.pk))) for _ in range(2)]
    person = remove(delegate, kept, texts[0])
    with Refusing(Reason.GONE, delegate, actor=delegate):
        remove(person, kept, texts[1])


def test_a_passkey_that_anybody_has_is_not_added_twice(soft, kept, delegate, owner):
    theirs = SoftPasskey()
    theirs.keep_for(owner)
    new = NewPasskey(registration=theirs.register(ask("register", delegate)), name="Key")
    with Refusing(Reason.KNOWN, delegate, actor=delegate):
        add(delegate, soft.sign(ask("add", delegate)), new)


# One-time links.


def test_a_link_works_once(owner, delegate):
    link = make_link(by(owner), delegate, maker=owner)
    use_link(delegate, link)
    with Refusing(Reason.LINK, delegate, actor=None):
        use_link(delegate, link)


def test_a_second_link_ends_with_the_first(owner, delegate):
    links = [make_link(by(owner), delegate, maker=owner) for _ in range(2)]
    use_link(delegate, links[0])
    with Refusing(Reason.LINK, delegate, actor=None):
        use_link(delegate, links[1])


def test_a_link_ends_with_the_sessions_of_the_person(owner, delegate):
    link = make_link(by(owner), delegate, maker=owner)
    sign_out_everywhere(by(delegate), delegate.pk)
    with Refusing(Reason.LINK, delegate, actor=None):
        use_link(delegate, link)


def test_a_link_ends_when_a_passkey_is_added_or_removed(soft, kept, owner, delegate):
    link = make_link(by(owner), delegate, maker=owner)
    add(delegate, soft.sign(ask("add", delegate)))
    with Refusing(Reason.LINK, delegate, actor=None):
        use_link(delegate, link)


def test_a_link_ends_after_its_time(owner, delegate, settings):
    link = make_link(by(owner), delegate, maker=owner)
    settings.PASSWORD_RESET_TIMEOUT = -1
    with Refusing(Reason.LINK, delegate, actor=None):
        use_link(delegate, link)


def test_a_link_ends_with_the_rights_of_its_maker(company, delegate):
    maker = make_user(is_staff=True, is_superuser=True)
    link = make_link(by(maker), delegate, maker=maker)
    User.objects.filter(pk=maker.pk).update(is_superuser=False)
    with Refusing(Reason.LINK, delegate, actor=None):
        use_link(delegate, link)
    User.objects.filter(pk=maker.pk).update(is_superuser=True, is_active=False)
    with Refusing(Reason.LINK, delegate, actor=None):
        use_link(delegate, link)


def test_a_link_is_of_one_person_and_one_maker(owner, delegate):
    stranger = make_user(is_staff=True, is_superuser=True)
    own, theirs = (
        make_link(by(owner), person, maker=owner).split(".") for person in (delegate, stranger)
    )
    for made_up in (
        [own[0], own[1], theirs[2]],
        [own[0], theirs[0], own[2]],
        [own[0], "", own[2]],
        [own[0]],
    ):
        with Refusing(Reason.LINK, delegate, actor=None):
            use_link(delegate, ".".join(made_up))


@pytest.mark.parametrize("link", ["", ".", "..", "a.b.c", "\0", "é.é.é", "a" * 9_999, "\ud800"])
def test_a_link_that_names_nobody_is_refused_without_an_event(delegate, link):
    with pytest.raises(PasskeyRefusedError) as refused:
        use_link(delegate, link)
    assert refused.value.reason == Reason.LINK
    assert events() == []


def test_nobody_gives_a_link_to_themselves_or_to_somebody_with_more_rights(owner, delegate):
    for person in (owner, delegate):
        with Refusing(Reason.NOT_ALLOWED, person, actor=person):
            make_link(by(person), person, maker=person)
    with Refusing(Reason.NOT_ALLOWED, owner, actor=delegate):
        make_link(by(delegate), owner, maker=delegate)
    helper = make_user(is_staff=True, is_superuser=True)
    with Refusing(Reason.NOT_ALLOWED, owner, actor=helper):
        make_link(by(helper), owner, maker=helper)


def test_a_maker_who_has_passkeys_gives_a_link_with_one_of_them(owner, delegate):
    soft = SoftPasskey(counter=1)
    soft.keep_for(owner)
    stranger = make_user()

    def make(text: str) -> str:
        return make_link(by(owner), delegate, maker=owner, session=SESSION, allowed_by=text)

    own, other = ask("link", owner, about=str(delegate.pk)), ask("link", owner)
    for text in (
        "",
        soft.sign(other),
        soft.sign(ask("link", owner, about=str(stranger.pk))),
        soft.sign(ask("add", owner)),
        soft.sign(own, verifies=False),
        soft.sign(own, key=SoftPasskey().key),
    ):
        with Refusing(Reason.ASSERTION, delegate, actor=owner):
            make(text)
    text = soft.sign(own)
    assert use_link(delegate, make(text)).person == delegate
    with Refusing(Reason.ASSERTION, delegate, actor=owner):
        make(text)


def test_nobody_gives_a_link_to_somebody_who_is_not_active(owner, delegate):
    User.objects.filter(pk=delegate.pk).update(is_active=False)
    with Refusing(Reason.NOT_ALLOWED, delegate, actor=owner):
        make_link(by(owner), delegate, maker=owner)


def test_a_challenge_of_the_page_for_signed_in_people_is_none_of_a_link(owner, delegate):
    link = make_link(by(owner), delegate, maker=owner)
    with Refusing(Reason.REGISTRATION, delegate, actor=None):
        add_by_link(by(None), make_new(delegate), session=SESSION, link=link)
