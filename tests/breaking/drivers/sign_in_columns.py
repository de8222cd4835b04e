"""What must not be of sign-ins: forks, tokens that outlive a second use, and losses."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tests.breaking.drivers.diary import Note, of_kind
from tests.breaking.drivers.driver import Found

OK, UNAUTHORIZED = 200, 401
# An access token is good for an hour from when it was made, which is before it was received.
ACCESS_TOKEN_SECONDS, LATEST_SECONDS = 3600, 60


class SignIn(NamedTuple):
    """A connection of a program: its tokens that may still be used, and how many uses there were.

    `refresh_tokens` are the digests of all that it ever had.
    """

    client_id: str
    connection_id: str
    live: int
    rotated: int
    exchanged: int
    refresh_tokens: list[str]
    rotations_told: int
    exchanges_told: int
    revoked_reason: str
    revocations_told: int


SIGN_INS = """
    SELECT client_id, id::text,
        (SELECT count(*) FROM agent_oauth_refreshtoken AS held
            WHERE held.connection_id = own.id AND held.revoked IS NULL),
        (SELECT count(*) FROM agent_oauth_refreshtoken AS held
            WHERE held.connection_id = own.id AND held.revoked IS NOT NULL),
        (SELECT count(*) FROM agent_oauth_grant AS held
            WHERE held.connection_id = own.id AND held.consumed_at IS NOT NULL),
        ARRAY(SELECT token_checksum FROM agent_oauth_refreshtoken AS held
            WHERE held.connection_id = own.id),
        (SELECT count(*) FROM told WHERE connection_id = own.id AND action = 'token:refreshed'),
        (SELECT count(*) FROM told WHERE connection_id = own.id AND action = 'code:exchanged'),
        revoked_reason,
        (SELECT count(*) FROM told WHERE connection_id = own.id AND action = 'connection:revoked')
    FROM agent_access_connection AS own WHERE kind = 'browser' ORDER BY id
"""
# The plan would look through the whole audit for each connection otherwise.
TOLD = """
    CREATE TEMPORARY TABLE told AS SELECT connection_id, action FROM agent_access_auditevent
    WHERE action IN ('token:refreshed', 'code:exchanged', 'connection:revoked')
"""


def read(database: Any) -> list[SignIn]:
    """Return all sign-ins of the database, in a transaction that is not committed."""
    database.execute(TOLD)
    return [SignIn(*row) for row in database.execute(SIGN_INS).fetchall()]


def find(notes: list[Note], rows: list[SignIn]) -> Found:
    return {
        "forked sign-ins": [*find_forks(notes, rows)],
        "sign-ins after a second use": [*find_survivors(notes)],
        "sign-ins lost": [*find_losses(notes, rows)],
        "sign-ins without their event": [*find_silent(rows)],
    }


def find_forks(notes: list[Note], rows: list[SignIn]) -> Iterator[str]:
    """Secrets that were good twice, and connections with two tokens for the next rotation."""
    good = Counter(each["secret"] for each in of_kind(notes, "answered") if each["status"] == OK)
    yield from (f"secret {secret[:8]} was good {n} times" for secret, n in good.items() if n > 1)
    for row in rows:
        if row.live > 1:
            yield f"connection {row.connection_id} has {row.live} refresh tokens"
    for client_id, many in Counter(row.client_id for row in rows).items():
        if many > 1:
            yield f"one consent made {many} connections of {client_id}"


def find_survivors(notes: list[Note]) -> Iterator[str]:
    """What a program could still do after it was told that a secret was used twice."""
    for program, told in _by_program(notes).items():
        ended_at = _ended_at(told)
        since = 0.0
        for each in told:
            if each["kind"] in {"calling", "presented"}:
                since = each["at"]
            is_later = since > ended_at
            if is_later and each["kind"] == "called" and each["status"] != UNAUTHORIZED:
                yield f"{program} called a tool after its end ({each['status']})"
            if is_later and each["kind"] == "answered" and each["status"] == OK:
                yield f"{program} got tokens after its end"


def _ended_at(told: list[Note]) -> float:
    refused = (each["at"] for each in of_kind(told, "answered") if each["status"] != OK)
    return next(refused, float("inf"))


def find_losses(notes: list[Note], rows: list[SignIn]) -> Iterator[str]:
    """Sign-ins that ended, or tokens that are gone, though no secret was presented twice."""
    kept = {row.client_id: set(row.refresh_tokens) for row in rows}
    for program, told in _by_program(notes).items():
        for each in of_kind(told, "answered"):
            if each["status"] == OK and each["refresh_token"] not in kept.get(program, set()):
                yield f"{program} was given a token that the database has not"
        if max(_presented(told).values(), default=0) > 1:
            continue
        # A consent that comes late, when its browser has gone, makes the code of the next one void.
        is_void = len(of_kind(told, "allowing")) > 1
        for each in of_kind(told, "answered")[is_void:]:
            if each["status"] != OK:
                yield f"{program} was refused a secret that it used once ({each['error']})"
        given_at = {
            each["access_token"]: each["at"]
            for each in of_kind(told, "answered")
            if each["status"] == OK
        }
        for each in of_kind(told, "called"):
            age = each["at"] - given_at[each["access_token"]]
            if each["status"] != OK and age < ACCESS_TOKEN_SECONDS - LATEST_SECONDS:
                yield f"{program} could not call a tool ({each['status']}) after {age:.0f} s"


def _presented(told: list[Note]) -> Counter[str]:
    """Count how often each secret was sent to somebody who listened."""
    sent = Counter(each["secret"] for each in of_kind(told, "presented"))
    sent.subtract(each["secret"] for each in of_kind(told, "unsent"))
    return sent


def find_silent(rows: list[SignIn]) -> Iterator[str]:
    """Uses of codes and tokens, and ends of connections, without their event or twice."""
    for row in rows:
        name = f"connection {row.connection_id}"
        if row.rotated != row.rotations_told:
            yield f"{name} rotated {row.rotated} times, and the audit says {row.rotations_told}"
        if row.exchanged != row.exchanges_told:
            yield f"{name} exchanged {row.exchanged} codes, the audit says {row.exchanges_told}"
        if row.revocations_told != bool(row.revoked_reason):
            yield f"{name} ended {row.revoked_reason!r}, the audit says {row.revocations_told}"


def count(notes: list[Note]) -> Mapping[str, int]:
    answered = of_kind(notes, "answered")
    good = [each for each in answered if each["status"] == OK]
    programs = {each["program"] for each in answered}
    return {
        "programs signed in by a browser": len(programs),
        "tokens given": len(good),
        "answers with tokens lost": len(of_kind(notes, "lost")),
        "sign-ins ended by a second use": len(
            {each["program"] for each in answered if each["status"] != OK}
        ),
    }


def _by_program(notes: list[Note]) -> Mapping[str, list[Note]]:
    found: dict[str, list[Note]] = defaultdict(list)
    for each in notes:
        found[each["program"]].append(each)
    return found
