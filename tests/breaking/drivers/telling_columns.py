"""What must not be of messages to people: told to nobody, told too often, or with a secret."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from tests.breaking.drivers.diary import Note, of_kind
from tests.breaking.drivers.driver import Found
from tests.breaking.drivers.mailbox import MAIL

# One request in one way.
Telling = tuple[str, str]
# What a worker needs to write down that a message was taken, once it was told so.
MARKING_SECONDS = 2.0
# A server that answers so late may be given up before.
PROMPT_SECONDS = 3.0
# So long after a browser is gone, what was claimed for it before is sent, also by another worker.
LAST_SENDINGS_SECONDS = 10.0


class Delivery(NamedTuple):
    """What the database says of one request in one way."""

    approval_id: str
    way: str
    attempts: int
    outcome: str


@dataclass(frozen=True, kw_only=True)
class Rows:
    """What the database says of one person: their requests, and what was told of them."""

    approvals: list[str]
    notified: list[str]
    deliveries: list[Delivery]
    # The ways of the browsers to which they are told still.
    subscribed: list[str]


APPROVALS = """
    SELECT id::text FROM agent_approvals_approvalrequest WHERE delegated_user_id = %s::uuid
"""
NOTIFIED = "SELECT record_id::text FROM agent_telling_notification WHERE person_id = %s::uuid"
DELIVERIES = """
    SELECT told.record_id::text, device.endpoint_digest, delivery.attempts, delivery.outcome
    FROM agent_telling_delivery AS delivery
    JOIN agent_telling_notification AS told ON told.id = delivery.notification_id
    LEFT JOIN agent_telling_device AS device ON device.id = delivery.device_id
    WHERE told.person_id = %s::uuid AND told.fate = 'told'
"""
SUBSCRIBED = "SELECT endpoint_digest FROM agent_telling_device WHERE person_id = %s::uuid"


def read(database: Any, person_id: str, ways: Mapping[str, str]) -> Rows:
    """Read what concerns the person, whose browsers have these ways by the digest of each.

    One that was added and is not known, since no answer came, is left out.
    """
    own = [person_id]
    return Rows(
        approvals=[pk for (pk,) in database.execute(APPROVALS, own).fetchall()],
        notified=[pk for (pk,) in database.execute(NOTIFIED, own).fetchall()],
        deliveries=[
            Delivery(pk, ways[digest] if digest else MAIL, attempts, outcome)
            for pk, digest, attempts, outcome in database.execute(DELIVERIES, own).fetchall()
            if digest in {None, *ways}
        ],
        subscribed=[
            ways[digest]
            for (digest,) in database.execute(SUBSCRIBED, own).fetchall()
            if digest in ways
        ],
    )


def find(notes: list[Note], rows: Rows, secrets: AbstractSet[str]) -> Found:
    """Return the columns; the notes are in the order of their time."""
    return {
        "requests never told": [*find_untold(notes, rows)],
        "told once more than promised": [*find_retold(notes, rows)],
        "subscriptions that are gone and kept": [*find_kept(notes, rows)],
        "secrets told": [*find_secrets(notes, secrets)],
    }


def find_untold(notes: list[Note], rows: Rows) -> Iterator[str]:
    """Requests of which the person was not told in each way, though they waited for it."""
    notified = Counter(rows.notified)
    for approval_id in rows.approvals:
        if notified[approval_id] != 1:
            yield f"of request {approval_id} there are {notified[approval_id]} notifications"
    ways = {each["way"] for each in of_kind(notes, "sent")}
    taken = {_place(each) for each in of_kind(notes, "sent") if each["is_taken"]}
    for asked in of_kind(notes, "asked"):
        for way in sorted(ways or {MAIL}):
            if (asked["approval_id"], way) not in taken:
                yield f"request {asked['approval_id']} was not told by {way}"
    for each in rows.deliveries:
        if each.outcome == "sent" and (each.approval_id, each.way) not in taken:
            yield f"request {each.approval_id} is said to be told by {each.way}, which took none"


def find_retold(notes: list[Note], rows: Rows) -> Iterator[str]:
    """Messages that were taken, and sent again though no worker was killed in between.

    What was killed cannot have written down that it was told so: only then, or where a server did
    not say that it took the message, is it sent once more.
    """
    killed = [each["at"] for each in of_kind(notes, "killed")]
    for place, told in _by_place(notes).items():
        for before, after in pairwise(told):
            is_told = before["kind"] == "confirmed" and before["seconds"] < PROMPT_SECONDS
            since = before["at"] - MARKING_SECONDS
            is_killed = any(since <= moment <= after["at"] for moment in killed)
            if is_told and after["kind"] == "sent" and not is_killed:
                yield f"request {place[0]} was told by {place[1]} once more"
    sent = Counter(_place(each) for each in of_kind(notes, "sent"))
    for each in rows.deliveries:
        attempts = sent[each.approval_id, each.way]
        if attempts > each.attempts:
            yield f"request {each.approval_id} was told by {each.way} {attempts} times, uncounted"
    yield from _find_mails(notes)


def _find_mails(notes: list[Note]) -> Iterator[str]:
    """Mails of one request that are not the same mail, or of two that are."""
    mails = [each for each in of_kind(notes, "sent") if each["way"] == MAIL]
    keys: dict[str, set[str]] = defaultdict(set)
    requests: dict[str, set[str]] = defaultdict(set)
    for each in mails:
        keys[each["approval_id"]].add(each["message_id"])
        requests[each["message_id"]].add(each["approval_id"])
    for approval_id, many in keys.items():
        if approval_id and len(many) > 1:
            yield f"request {approval_id} was told by {len(many)} different mails"
    for message_id, many in requests.items():
        if len(many) > 1:
            yield f"mail {message_id} told of {len(many)} requests"


def find_kept(notes: list[Note], rows: Rows) -> Iterator[str]:
    """Browsers that left, and are kept or told of something though no worker was killed since."""
    killed = [each["at"] for each in of_kind(notes, "killed")]
    gone_at: dict[str, float] = {}
    for each in of_kind(notes, "gone"):
        gone_at.setdefault(each["way"], each["at"])
    for each in of_kind(notes, "knocked"):
        told_at: float = gone_at.get(each["way"], float("inf"))
        is_late = each["at"] > told_at + LAST_SENDINGS_SECONDS
        if is_late and not any(told_at <= moment <= each["at"] for moment in killed):
            yield f"{each['way']} was gone, and was told of something"
    for way in rows.subscribed:
        if way in gone_at and not any(moment >= gone_at[way] for moment in killed):
            yield f"{way} is gone and kept"


def find_secrets(notes: list[Note], secrets: AbstractSet[str]) -> Iterator[str]:
    """Messages in which something is that only a page or an agent may have."""
    for each in of_kind(notes, "sent"):
        for secret in sorted(secrets):
            if secret in each["text"]:
                yield f"a message by {each['way']} says {secret}"


def count(notes: list[Note]) -> Mapping[str, int]:
    moods = Counter(each["mood"] for each in of_kind(notes, "sent"))
    return {
        "requests of which a person was told": len(of_kind(notes, "asked")),
        "messages sent to browsers and by mail": sum(moods.values()),
        **{f"of these the server {mood}": moods[mood] for mood in sorted(moods)},
        "browsers that left": len({each["way"] for each in of_kind(notes, "gone")}),
        "workers killed that tell people": len(of_kind(notes, "killed")),
    }


def _by_place(notes: list[Note]) -> Mapping[Telling, list[Note]]:
    found: dict[Telling, list[Note]] = defaultdict(list)
    for each in notes:
        if each["kind"] in {"sent", "confirmed"} and each["approval_id"]:
            found[_place(each)].append(each)
    return found


def _place(note: Note) -> Telling:
    return note["approval_id"], note["way"]
