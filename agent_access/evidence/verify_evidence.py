"""Verifies a package of evidence, on any computer, without the service that made it.

    python verify_evidence.py FILE.zip [--archive ARCHIVE.zip ...] [--earlier OLDER.zip]
        [--heads HEADS.txt]

It needs Python 3.11 or later and the package `cryptography`; it reads no other file, no network and
no setting. The exit code is 0 if everything agrees, 1 if something does not or cannot be read, and
2 for wrong arguments. `--earlier` takes a package of before, and `--heads` what `verify_audit` once
printed: only what somebody kept outside shows that a whole chain was not written anew.

`archive_audit` moves old events out of a service into archives, of which each goes on where the one
before ended, and the package where the last one ended. `--archive` takes them, the oldest first;
they are verified with the package as one audit. An archive can also be verified by itself: FILE.zip
is one then, and its chains alone are.
"""

import argparse
import base64
import hashlib
import io
import json
import re
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import urlsplit
from uuid import UUID
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256

FORMAT, VERSION = "agent-evidence", 1
MANIFEST, HEADS, BEGINS = "manifest.json", "heads.txt", "begins.txt"
EVENTS, APPROVALS = "events.jsonl", "approvals.jsonl"
PASSKEYS, SIGNATURES = "passkeys.jsonl", "signatures.jsonl"
ADMINISTRATION, OK, APPROVE, APPROVED = "administration", "ok", "approve", "approved"
DONE = "done"  # as a signature says of an act by hand
# Whose digests are of no record; every other act that has one made one.
NO_RECORDS = ("passkey:", "signing:")
# Limits, so that a file made to do harm does none: names, and bytes of the manifest, a line, all.
MOST_FILES, MANIFEST_BYTES, LINE_BYTES, ALL_BYTES = 64, 1 << 20, 1 << 25, 1 << 36
# Problems, and characters of one.
PROBLEMS_SHOWN, MOST_SHOWN = 50, 1000
# While an upgrade runs, processes of the release before still work, which keep no digests.
UPGRADE_LASTS = timedelta(hours=1)
# A number may be dated by a clock that is behind, and is committed some time after that.
COMMIT_LASTS = timedelta(minutes=1)
HEAD = re.compile(r"(\S+) ([0-9]{1,18})(?: ([0-9a-f]*))?", re.ASCII)
# What is hashed of an event, in this order; what came later follows by its name, where it is set.
BEFORE_SEQUENCE = ("id", "chain")
AFTER_SEQUENCE = (
    *("occurred_at", "actor_id", "connection_id", "action", "target", "outcome", "detail"),
    *("transport", "request_id", "client_address"),
)
HASHED = {*BEFORE_SEQUENCE, "sequence", *AFTER_SEQUENCE, "digest"}
UNSET = (None, "")
# Of an authenticator's data: how long its fixed part is, and flags in it.
FIXED_LENGTH, USER_PRESENT_AND_VERIFIED = 37, 0b101

# What a row raises that no service wrote: other members, types, times and depths than a row has.
MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)

Row = dict[str, Any]
Position = tuple[int, str]
NOWHERE: Position = (0, "")


class UnreadableError(Exception):
    """The package, or a part of it, is none that can be read; the reason is a sentence."""


def read_json(text: bytes | str) -> Row:
    """Return a JSON object of which each name stands once; raises UnreadableError."""
    try:
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise UnreadableError("it holds something that is no JSON") from None
    if not isinstance(found, dict):
        raise UnreadableError("it holds something that is no JSON object")
    return found


def _once(pairs: list[tuple[str, Any]]) -> Row:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sha256(data: bytes | str) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def decode(text: Any) -> bytes:
    """Return the bytes of base64 for URLs; raises ValueError."""
    if not isinstance(text, str):
        raise ValueError  # noqa: TRY004  what malformed evidence raises here
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def read_heads(lines: Iterator[str]) -> dict[str, Position]:
    """Return the end of each chain, as `verify_audit` prints it; raises UnreadableError."""
    heads: dict[str, Position] = {}
    for line in filter(None, lines):
        head = HEAD.fullmatch(line)
        if head is None or head[1] in heads:
            raise UnreadableError("the heads are not: chain, sequence, digest, each chain once")
        heads[head[1]] = (int(head[2]), head[3] or "")
    return heads


def read_kept(path: str) -> dict[str, Position]:
    """Return the heads in a file that somebody kept; raises OSError, UnreadableError."""
    with open(path, encoding="utf-8") as text:  # noqa: PTH123  as short as it gets
        kept = read_heads(iter(text.read().splitlines()))
    if not kept:
        raise UnreadableError("the heads that were kept name no chain")
    return kept


class Package:
    """A package as a file; everything is read in small pieces, and compared with the manifest."""

    def __init__(self, file: str | BinaryIO) -> None:
        self._zip = ZipFile(file)
        entries = self._zip.infolist()
        names = [entry.filename for entry in entries]
        if len(names) > MOST_FILES or len(set(names)) < len(names) or MANIFEST not in names:
            raise UnreadableError("it holds too many files, one twice, or no manifest")
        if any(each.compress_type not in {ZIP_STORED, ZIP_DEFLATED} for each in entries):
            raise UnreadableError("a file in it is packed in an unknown way")
        if sum(entry.file_size for entry in entries) > ALL_BYTES:
            raise UnreadableError("it unpacks to more than this program reads")
        with self._zip.open(MANIFEST) as manifest:
            self.manifest = read_json(manifest.read(MANIFEST_BYTES + 1)[:MANIFEST_BYTES])
        if (self.manifest.get("format"), self.manifest.get("version")) != (FORMAT, VERSION):
            raise UnreadableError("its format is not one that this program knows")
        try:
            self.files: dict[str, Row] = {each["name"]: each for each in self.manifest["files"]}
            self.made_at = datetime.fromisoformat(self.manifest["made_at"])
            # Of an archive: before which moment all of its events are.
            self.before: datetime | None = None
            if self.is_archive:
                self.before = datetime.fromisoformat(self.manifest["archive"]["before"])
            is_complete = {*self.files, MANIFEST} == set(names)
            is_complete &= len(self.manifest["files"]) + 1 == len(names)
        except (KeyError, TypeError, ValueError):
            raise UnreadableError("its manifest is malformed") from None
        if not is_complete:
            raise UnreadableError("it holds other files than its manifest names")

    def lines(self, name: str) -> Iterator[bytes]:
        """Yield the lines of a file; raises UnreadableError, at the end if its digest differs."""
        if name not in self.files:
            return
        told, digest, size, count = self.files[name], hashlib.sha256(), 0, 0
        with io.BufferedReader(self._zip.open(name), 1 << 16) as file:  # type: ignore[type-var]  # it reads
            while line := file.readline(LINE_BYTES):
                if not line.endswith(b"\n"):
                    raise UnreadableError(f"a line of {name} is too long, or broken off")
                digest.update(line)
                size, count = size + len(line), count + 1
                yield line[:-1]
        if (size, count, digest.hexdigest()) != (told["size"], told["count"], told["sha256"]):
            raise UnreadableError(f"{name} is not the file that its manifest tells of")

    def rows(self, name: str) -> Iterator[Row]:
        return map(read_json, self.lines(name))

    def records(self, name: str) -> Iterator[Row]:
        """Yield rows that stand in the order of their IDs, and so each once."""
        before = ""
        for row in self.rows(name):
            if row["id"] <= before:
                raise UnreadableError(f"{name} is not in the order of IDs")
            before = row["id"]
            yield row

    @property
    def is_archive(self) -> bool:
        """Return whether it holds old events only."""
        return isinstance(self.manifest.get("archive"), dict)

    def heads(self) -> dict[str, Position]:
        return read_heads(line.decode() for line in self.lines(HEADS))

    def begins(self) -> dict[str, Position]:
        """Return what the first event of each chain follows, where an archive has what was before.

        Packages of before there were archives begin every chain with its first event.
        """
        return read_heads(line.decode() for line in self.lines(BEGINS))

    def numbered(self) -> Iterator[str]:
        return (name for name, told in self.files.items() if told.get("is_numbered") is True)


class Made(NamedTuple):
    """An event that tells that a record was made: by an agent's approval, or by hand."""

    digest: str
    approval: str
    chain: str


class Approval(NamedTuple):
    connection: str
    user: str
    target: str
    fingerprint: str
    nonce_digest: str
    decision: str
    demand: str | None
    executed_at: datetime | None
    # The digest of its facts without those that are not frozen, for each numbered file.
    agreed: tuple[str, ...]


class Key(NamedTuple):
    person: str
    public_key: str
    added_at: datetime
    removed_at: datetime | None


@dataclass
class Report:
    """What was found: problems, lines that tell what agrees, and where each chain ends."""

    problems: list[str] = field(default_factory=list)
    count: int = 0
    told: list[str] = field(default_factory=list)
    # What the first events follow, and the position of the last ones.
    begins: dict[str, Position] = field(default_factory=dict)
    ends: dict[str, Position] = field(default_factory=dict)

    def find(self, problem: str) -> None:
        self.count += 1
        if len(self.problems) < PROBLEMS_SHOWN:
            self.problems.append(problem)

    def check(self, holds: object, problem: str) -> bool:
        if not holds:
            self.find(problem)
        return bool(holds)

    def tell(self, line: str) -> None:
        self.told.append(line)


class Earlier:
    """What a package of before says, which the one of now must not contradict."""

    def __init__(self, package: Package) -> None:
        self.made_at = package.made_at
        self.heads = package.heads()
        self.records = {
            row["id"]: row["digest"] for name in package.numbered() for row in package.records(name)
        }
        self.keys = {row["id"]: row["public_key"] for row in package.records(PASSKEYS)}
        self.signed = {row["record_id"]: row["signature"] for row in package.records(SIGNATURES)}


class Verification:
    """One run, part by part; each remembers little of its rows for those that follow."""

    def __init__(
        self,
        package: Package,
        earlier: Earlier | None,
        heads: Mapping[str, Position],
        archives: Sequence[Package] = (),
    ) -> None:
        self.package, self.earlier, self.report = package, earlier, Report()
        self.archives = archives
        # Of each chain: sequence and digest of an event that somebody knew, and who did.
        self.expected: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
        self._expect(heads, "the heads that were kept")
        self._expect(earlier.heads if earlier else {}, "the earlier package")
        self.acts = {act for name in package.numbered() for act in package.files[name]["acts"]}
        self.made: dict[str, list[Made]] = defaultdict(list)
        self.executions: Counter[str] = Counter()
        self.decided: dict[str, tuple[str, str, str | None]] = {}
        self.key_events: set[tuple[str, str, str]] = set()
        # When each passkey was added and removed, and what was signed by hand, by the events.
        self.added: dict[str, datetime] = {}
        self.removed: dict[str, datetime] = {}
        self.to_be_signed: dict[str, str] = {}
        self.decided_by_hand: dict[str, str] = {}
        self.begun_at: datetime | None = None
        self.approvals: dict[str, Approval] = {}
        self.keys: dict[str, Key] = {}
        self.signed: set[str] = set()
        self.signed_by_hand: dict[str, tuple[str, ...]] = {}

    def run(self) -> Report:
        steps: list[Callable[[], None]] = [self.read_events]
        if not self.package.is_archive:
            steps += [self.read_approvals, self.read_keys, self.read_signatures]
            steps += [self.read_demands, self.read_numbered, self.read_others]
        for step in steps:
            try:
                step()
            except UnreadableError as error:
                self.report.find(str(error))
            except MALFORMED as error:
                what = step.__name__.removeprefix("read_")
                self.report.find(f"a row of the {what} is malformed ({type(error).__name__})")
        return self.report

    def _expect(self, heads: Mapping[str, Position], source: str) -> None:
        for chain, (sequence, digest) in heads.items():
            if sequence:
                self.expected[chain].append((sequence, digest, source))

    def read_events(self) -> None:
        """Read the events of the archives, if any, and of the package behind them as one audit."""
        ends = self.report.ends
        count, chains = 0, 0
        for place, file in enumerate([*self.archives, self.package]):
            begins, heads = file.begins(), file.heads()
            self.report.begins = begins | self.report.begins
            self._join(begins, ends, heads, is_first=place == 0)
            read, found = self._read_chains(file, begins)
            count, chains = count + read, len({*heads, *ends})
            ends |= found
            is_past = file.before is None or file.before <= file.made_at
            self.report.check(is_past, "an archive says that it is of before a day to come")
            known = {} if file.is_archive else ends
            for chain in {*heads, *found, *begins, *known}:
                end = found.get(chain, begins.get(chain, NOWHERE))
                self._compare_head(chain, end, heads.get(chain))
        if not self.package.is_archive:
            for chain in self.expected:
                self._compare_end(chain, ends.get(chain, NOWHERE))
        self.report.tell(f"{count} events in {chains} chains were checked.")

    def _join(
        self,
        begins: Mapping[str, Position],
        ends: Mapping[str, Position],
        heads: Mapping[str, Position],
        *,
        is_first: bool,
    ) -> None:
        """Compare where a file begins with where the archives before it ended."""
        for chain in sorted({*begins, *(ends.keys() & heads.keys())}):
            begin = begins.get(chain, NOWHERE)
            apart = f"{chain}: it does not go on where the archive before it ended"
            self.report.check(is_first or begin == ends.get(chain, NOWHERE), apart)
            for sequence, digest, source in self.expected.get(chain, ()):
                if sequence == begin[0]:
                    rewritten = f"{chain} {sequence}: the chain is not that of {source}"
                    self.report.check(digest == begin[1], rewritten)
        if is_first and begins:
            self.report.tell(
                f"{len(begins)} chains go on behind an archive that is not here: nothing before"
                " that was checked."
            )

    def _read_chains(
        self, file: Package, begins: Mapping[str, Position]
    ) -> tuple[int, dict[str, Position]]:
        """Return how many events a file has, and where each of their chains ends in it."""
        ends: dict[str, Position] = {}
        chain, reached, is_broken, count = "", NOWHERE, False, 0
        for event in file.rows(EVENTS):
            count += 1
            if event["chain"] != chain:
                chain, is_broken = event["chain"], False
                reached = begins.get(chain, NOWHERE)
                if not self.report.check(chain not in ends, f"{chain}: its events are apart"):
                    break
            due, previous = reached[0] + 1, reached[1]
            # After its first break nothing of a chain proves anything.
            if not is_broken:
                is_broken = not self._follows(event, due, previous)
            is_old = file.before is None or _moment(event["occurred_at"]) < file.before
            self.report.check(is_old, f"{chain} {due}: it is not of before the day of its archive")
            reached = ends[chain] = (event["sequence"], event["digest"])
            if not self.package.is_archive:
                self._remember_event(event)
        return count, ends

    def _follows(self, event: Row, due: int, previous: str) -> bool:
        place = f"{event['chain']} {due}"
        if not self.report.check(event["sequence"] == due, f"{place}: an event is missing here"):
            return False
        changed = f"{place}: this event was changed or moved, or follows one that was"
        if not self.report.check(event["digest"] == digest_event(event, previous), changed):
            return False
        for sequence, digest, source in self.expected.get(event["chain"], ()):
            if sequence == due and digest != event["digest"]:
                self.report.find(f"{place}: the chain was rewritten: it is not that of {source}")
                return False
        return True

    def _compare_head(self, chain: str, end: Position, head: Position | None) -> None:
        if head is None:
            self.report.find(f"{chain}: the head of the chain is missing")
        else:
            self.report.check(head == end, f"{chain}: its head is not at its last event")

    def _compare_end(self, chain: str, end: Position) -> None:
        for sequence, _, source in self.expected[chain]:
            gone = f"{chain} {end[0] + 1}: an event is missing here that {source} knew"
            self.report.check(sequence <= end[0], gone)

    def _remember_event(self, event: Row) -> None:
        chain, target, digest = event["chain"], event["target"], event.get("content_digest")
        is_decision = event["action"].startswith("approval:")
        if event["action"] == f"approval:{APPROVED}":
            twice = f"approval {target}: it was approved twice"
            self.report.check(target not in self.decided, twice)
            self.decided[target] = (chain, event["actor_id"], digest)
        if not digest or is_decision or event["outcome"] != OK:
            return
        if chain == ADMINISTRATION:
            self._remember_act(event, digest)
            if event["action"] not in self.acts:
                return
            self.made[target].append(Made(digest, "", chain))
        else:
            self.executions[target] += 1
            self.made[event["detail"]].append(Made(digest, target, chain))
        at = datetime.fromisoformat(event["occurred_at"])
        self.begun_at = min(at, self.begun_at or at)

    def _remember_act(self, event: Row, digest: str) -> None:
        action, target, at = event["action"], event["target"], _moment(event["occurred_at"])
        self.key_events.add((digest, target, event["detail"]))
        match action:
            case "signing:signed":
                self.to_be_signed[target] = digest
            case "passkey:added":
                self.added.setdefault(event["detail"], at)
            case "passkey:removed":
                self.removed.setdefault(event["detail"], at)
        self.report.check(
            action in self.acts or action.startswith(NO_RECORDS),
            f"{event['chain']} {event['sequence']}: it made a record, of which no file tells",
        )

    def read_approvals(self) -> None:
        patterns = [_patterns(self.package.files[name]) for name in self.package.numbered()]
        counts: Counter[str] = Counter()
        for row in self.package.records(APPROVALS):
            name = f"approval {row['id']}"
            approval = Approval(
                *(row["connection_id"], _key(row["delegated_user_id"]), row["target"]),
                *(row["fingerprint"], row["nonce_digest"], row["decision"]),
                row.get("demand", ""),
                _moment(row["executed_at"]) if row["executed_at"] else None,
                tuple(digest_facts(read_json(row["facts"]), each) for each in patterns),
            )
            self.approvals[row["id"]] = approval
            self.report.check(
                sha256(row["facts"]) == approval.fingerprint,
                f"{name}: its facts are not those of its fingerprint",
            )
            counts["requests"] += 1
            counts["approved"] += approval.decision == APPROVED
            counts["executed"] += approval.executed_at is not None
            counts["of before"] += self._compare_decision(name, row, approval)
        for pk in self.decided.keys() - self.approvals.keys():
            self.report.find(f"approval {pk}: an event tells of it, and it is missing")
        self.report.tell(
            f"{counts['requests']} requests for approval: {counts['approved']} approved,"
            f" {counts['executed']} executed, {counts['of before']} from before this release."
        )

    def _compare_decision(self, name: str, row: Row, approval: Approval) -> bool:
        """Compare with the events; return whether it was decided before these kept digests."""
        chain, actor, digest = self.decided.get(row["id"], ("", "", None))
        is_approved, executions = approval.decision == APPROVED, self.executions[row["id"]]
        self.report.check(
            bool(chain) == is_approved, f"{name}: an event and its decision contradict each other"
        )
        self.report.check(
            is_approved or not approval.executed_at, f"{name}: it was executed, but never approved"
        )
        if chain:
            agrees = (chain, actor) == (approval.connection, approval.user)
            self.report.check(agrees, f"{name}: another person or connection is in its event")
            is_known = digest or self._is_before(_moment(row["decided_at"]))
            self.report.check(is_known, f"{name}: its event keeps no digest of what was approved")
        if digest:
            self.report.check(
                digest == _digest_decided(approval.fingerprint, approval.demand),
                f"{name}: it is not what was approved",
            )
            at = approval.executed_at
            # By a process of the release before, while the upgrade ran.
            is_before = at is not None and not executions and self._is_before(at)
            self.report.check(
                executions == (at is not None) or is_before,
                f"{name}: it was executed {executions} times, by what the events tell",
            )
            self.report.check(
                approval.demand is not None, f"{name}: what had to be signed was taken out of it"
            )
        return is_approved and not digest

    def read_keys(self) -> None:
        for row in self.package.records(PASSKEYS):
            person, public_key = _key(row["person_id"]), row["public_key"]
            added_at, removed_at = _moment(row["added_at"]), _removed(row)
            # The events tell later than the rows, if at all, by what the act took.
            added_at = max(added_at, self.added.get(row["id"], added_at))
            ended = self.removed.get(row["id"])
            self.report.check(
                removed_at or not ended, f"passkey {row['id']}: it was removed, by its event"
            )
            self.keys[row["id"]] = Key(person, public_key, added_at, removed_at or ended)
            self.report.check(
                (sha256(decode(public_key)), person, row["id"]) in self.key_events,
                f"passkey {row['id']}: no event tells that this person added this key",
            )
        for pk, public_key in (self.earlier.keys if self.earlier else {}).items():
            known = self.keys.get(pk)
            replaced = f"passkey {pk}: it is not that of the earlier package"
            self.report.check(known and known.public_key == public_key, replaced)
        if self.keys:
            self.report.tell(f"{len(self.keys)} passkeys were compared with their events.")

    def read_signatures(self) -> None:
        patterns, count = [_patterns(self.package.files[n]) for n in self.package.numbered()], 0
        known = dict(self.earlier.signed) if self.earlier else {}
        for row in self.package.records(SIGNATURES):
            count += 1
            for flaw in islice(self._flaws(row), 1):
                self.report.find(f"signature {row['id']}: {flaw}")
            if known.pop(row["record_id"], row["signature"]) != row["signature"]:
                self.report.find(f"signature {row['id']}: it is not that of the earlier package")
            if row["purpose"] == APPROVE:
                self.signed.add(row["record_id"])
            else:
                agreed = (digest_facts(read_json(row["facts"]), each) for each in patterns)
                self.signed_by_hand[row["record_id"]] = tuple(agreed)
                decided = _digest_decided(row["fingerprint"], row["demand"])
                self.decided_by_hand[row["record_id"]] = decided
        for record_id in known:
            self.report.find(f"record {record_id}: its signature of the earlier package is gone")
        if count:
            self.report.tell(f"{count} signatures were verified over the facts beside them.")

    def _flaws(self, row: Row) -> Iterator[str]:
        """Yield what is wrong with a signature, the gravest first."""
        key, approval = self.keys.get(row["passkey_id"]), self.approvals.get(row["record_id"])
        signed_at, person = _moment(row["signed_at"]), _key(row["person_id"])
        if key is None or (key.person, key.public_key) != (person, row["public_key"]):
            yield "it was not made with the key of the passkey that it names"
        elif not key.added_at <= signed_at <= (key.removed_at or signed_at):
            yield "its passkey did not exist when it was made"
        signed = {"purpose": row["purpose"], "user": str(row["person_id"])}
        signed |= {"fingerprint": row["fingerprint"]}
        if row["purpose"] != APPROVE:
            signed |= {"record": row["record_id"], "decision": DONE}
        elif approval is None or approval.user != person:
            yield "there is no such approval, or it is another person's"
        else:
            if (approval.fingerprint, approval.demand) != (row["fingerprint"], row["demand"]):
                yield "it is for other facts, or another demand, than the approval's"
            signed |= {"approval": row["record_id"], "nonce_digest": approval.nonce_digest}
            signed |= {"decision": APPROVED}
        challenge = read_json(row["challenge"])
        if any(challenge.get(name) != value for name, value in signed.items()):
            yield "what was signed is not this act of this person"
        if sha256(row["facts"]) != row["fingerprint"]:
            yield "its facts are not those of its fingerprint"
        yield from flaws_of_assertion(row)

    def read_demands(self) -> None:
        for pk, approval in self.approvals.items():
            if approval.decision == APPROVED and approval.demand:
                unsigned = f"approval {pk}: a signature was demanded, and there is none"
                self.report.check(pk in self.signed, unsigned)
        for pk, digest in self.to_be_signed.items():
            unsigned = f"record {shown(pk)}: it was signed by hand, and no such signature is there"
            self.report.check(self.decided_by_hand.get(pk) == digest, unsigned)

    def read_numbered(self) -> None:
        seen: set[str] = set()
        for index, name in enumerate(self.package.numbered()):
            series: dict[str, dict[int, str]] = defaultdict(dict)
            ways: Counter[str] = Counter()
            for row in self.package.records(name):
                record = read_json(row["content"])
                number = f"{shown(record['number'])} ({row['id']})"
                seen.add(row["id"])
                ways[self._find_way(number, row, record, index)] += 1
                numbers, value = series[record["series"]], record["value"]
                twice = f"{number}: its place in its series is another's"
                self.report.check(value not in numbers, twice)
                numbers[value] = record["number"]
            self._tell_series(name, series)
            unfrozen = ", ".join(map(shown, self.package.files[name]["unfrozen"])) or "nothing"
            self.report.tell(f"Of {shown(name)}, what was approved may differ in: {unfrozen}.")
            told = ", ".join(f"{count} {way}" for way, count in sorted(ways.items())) or "none"
            self.report.tell(f"Numbers of {shown(name)} by how they were given: {told}.")
        # What a kind of approval keeps that adds nothing is the fingerprint of what was approved.
        for record_id, made in self.made.items():
            if record_id not in seen and any(self._adds(each) for each in made):
                self.report.find(f"record {shown(record_id)}: an event made it, and it is missing")
        for record_id in (self.earlier.records if self.earlier else {}).keys() - seen:
            self.report.find(f"record {record_id}: the earlier package has it, this one has not")

    def _is_before(self, moment: datetime) -> bool:
        """Return whether events kept no digests yet at this moment."""
        return self.begun_at is None or moment - self.begun_at <= UPGRADE_LASTS

    def _adds(self, made: Made) -> bool:
        approval = self.approvals.get(made.approval)
        return approval is None or approval.fingerprint != made.digest

    def _find_way(self, number: str, row: Row, record: Row, index: int) -> str:
        """Return by which one way the number was given, in words."""
        pk, made_at = row["id"], _moment(record["made_at"])
        agreed = digest_facts(record["facts"], [])
        self.report.check(record["id"] == pk, f"{number}: its content is another record's")
        self.report.check(
            sha256(row["content"]) == row["digest"], f"{number}: its content has another digest"
        )
        self._compare_earlier(number, row, made_at)
        made = self.made.get(pk, [])
        if not made:
            is_before = self._is_before(made_at)
            self.report.check(is_before, f"{number}: no event keeps how it was given")
            return "from before this release" if is_before else "in no known way"
        self.report.check(len(made) == 1, f"{number}: {len(made)} events say that they gave it")
        self.report.check(
            made[0].digest == row["digest"], f"{number}: it is not what its event says was frozen"
        )
        if not made[0].approval:
            if pk not in self.signed_by_hand:
                return "by hand"
            self.report.check(
                self.signed_by_hand[pk][index] == agreed, f"{number}: it is not what was signed"
            )
            return "by hand and signed"
        self._compare_approval(number, pk, made[0], agreed=agreed, index=index)
        return "by a signed approval" if made[0].approval in self.signed else "by approval"

    def _compare_earlier(self, number: str, row: Row, made_at: datetime) -> None:
        if self.earlier is None:
            return
        known = self.earlier.records.get(row["id"])
        changed = f"{number}: it is not that of the earlier package"
        self.report.check(known in {None, row["digest"]}, changed)
        added = f"{number}: the earlier package, made after it, has it not"
        is_later = made_at > self.earlier.made_at - COMMIT_LASTS
        self.report.check(known or is_later, added)

    def _compare_approval(
        self, number: str, pk: str, made: Made, *, agreed: str, index: int
    ) -> None:
        approval = self.approvals.get(made.approval)
        if approval is None:
            self.report.find(f"{number}: the approval that its event names is missing")
            return
        same = (approval.target, approval.connection) == (pk, made.chain)
        self.report.check(
            same and approval.executed_at, f"{number}: its approval is for something else"
        )
        self.report.check(
            approval.agreed[index] == agreed, f"{number}: it is not what was approved"
        )

    def _tell_series(self, name: str, series: Mapping[str, Mapping[int, str]]) -> None:
        texts = Counter(number for numbers in series.values() for number in numbers.values())
        for number, count in texts.items():
            self.report.check(count == 1, f"{shown(number)}: {count} records have this number")
        for numbers in series.values():
            first, last = min(numbers), max(numbers)
            span = f"{shown(numbers[first])} to {shown(numbers[last])}"
            gaps = last - first + 1 - len(numbers)
            self.report.check(not gaps, f"{span}: {gaps} numbers are missing")
            begins = "" if first == 1 else f", beginning at {first}"
            self.report.tell(f"Numbers {span}: {len(numbers)}{begins}.")

    def read_others(self) -> None:
        known = {HEADS, BEGINS, EVENTS, APPROVALS, PASSKEYS, SIGNATURES, *self.package.numbered()}
        for name in self.package.files:
            if name not in known:
                rows = sum(1 for _ in self.package.rows(name))
                self.report.tell(f"{shown(name)}: {rows} rows, compared with the manifest only.")


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _key(value: Any) -> str:
    """Return a person's key as events have it: an integer stands for a UUID."""
    return str(UUID(int=value)) if isinstance(value, int) else str(value)


def _removed(row: Row) -> datetime | None:
    return _moment(row["removed_at"]) if row["removed_at"] else None


def _patterns(told: Row) -> list[list[str]]:
    return [path.split(".") for path in told["unfrozen"]]


def digest_event(event: Row, previous: str) -> str:
    """Return the SHA-256 of the digest before and of every fact of the event, in hexadecimal."""
    values: list[Any] = [previous, *(event[name] for name in BEFORE_SEQUENCE), event["sequence"]]
    values += [event[name] for name in AFTER_SEQUENCE]
    values += [{n: v} for n, v in event.items() if n not in HASHED and v not in UNSET]
    return sha256(json.dumps(values, separators=(",", ":"), ensure_ascii=False))


def _digest_decided(fingerprint: str, demand: str | None) -> str:
    """Return what the event of a decision keeps, which covers what had to be signed."""
    if not demand:
        return fingerprint
    return sha256(canonical({"demand": demand, "fingerprint": fingerprint}))


def digest_facts(facts: Any, unfrozen: list[list[str]]) -> str:
    """Return the digest of facts without those of the paths, and without what is not set."""
    return sha256(canonical(_strip(facts, unfrozen)))


def _strip(facts: Any, paths: list[list[str]]) -> Any:
    if isinstance(facts, list):
        inner = [path[1:] for path in paths if path[0] == "*" and len(path) > 1]
        return [_strip(each, inner) for each in facts]
    if not isinstance(facts, dict):
        return facts
    return {
        name: _strip(value, [path[1:] for path in paths if path[0] == name and len(path) > 1])
        for name, value in facts.items()
        if value not in UNSET and [name] not in paths
    }


def flaws_of_assertion(row: Row) -> Iterator[str]:
    """Yield what is wrong with what the browser sent of a passkey (WebAuthn, section 7.2)."""
    try:
        client_data, data = decode(row["client_data"]), decode(row["authenticator_data"])
        told, signature = read_json(client_data), decode(row["signature"])
        challenge, key = decode(told.get("challenge")), read_cose(decode(row["public_key"]))
    except (ValueError, UnreadableError):
        yield "it is malformed"
        return
    if told.get("type") != "webauthn.get" or told.get("crossOrigin") not in {None, False}:
        yield "it was made for something else, or in a frame of another site"
    if challenge.hex() != sha256(row["challenge"]):
        yield "it is over another challenge"
    host = urlsplit(row["origin"]).hostname
    if (told.get("origin"), host) != (row["origin"], row["relying_party"]):
        yield "it was made on another site"
    if len(data) < FIXED_LENGTH or data[:32].hex() != sha256(row["relying_party"]):
        yield "it was made for another site"
    elif data[32] & USER_PRESENT_AND_VERIFIED != USER_PRESENT_AND_VERIFIED:
        yield "the person was not verified"
    try:
        _verify(key, signature, data + hashlib.sha256(client_data).digest())
    except (InvalidSignature, UnsupportedAlgorithm, ValueError, KeyError, TypeError):
        yield "the signature does not hold"


def _verify(key: dict[Any, Any], signature: bytes, signed: bytes) -> None:
    """Verify ES256, EdDSA or RS256; raises InvalidSignature, ValueError, KeyError, TypeError."""
    match key[1], key[3]:
        case 2, -7:
            x, y = (int.from_bytes(key[name]) for name in (-2, -3))
            point = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1())
            point.public_key().verify(signature, signed, ec.ECDSA(SHA256()))
        case 1, -8:
            ed25519.Ed25519PublicKey.from_public_bytes(key[-2]).verify(signature, signed)
        case 3, -257:
            modulus, exponent = (int.from_bytes(key[name]) for name in (-1, -2))
            public_key = rsa.RSAPublicNumbers(exponent, modulus).public_key()
            public_key.verify(signature, signed, padding.PKCS1v15(), SHA256())
        case _:
            raise ValueError


def read_cose(data: bytes) -> dict[Any, Any]:
    """Return a COSE key: a CBOR map of numbers and byte strings; raises ValueError."""
    found, rest = _read_cbor(data)
    if not isinstance(found, dict) or rest:
        raise ValueError
    return found


def _read_cbor(data: bytes, *, is_inner: bool = False) -> tuple[Any, bytes]:
    if not data:
        raise ValueError
    kind, size, data = data[0] >> 5, data[0] & 31, data[1:]
    if size >= 24:  # noqa: PLR2004  the number follows, in 1, 2, 4 or 8 bytes
        width = 1 << (size - 24)
        if width > 8 or len(data) < width:  # noqa: PLR2004  as above
            raise ValueError
        size, data = int.from_bytes(data[:width]), data[width:]
    match kind:
        case 0:
            return size, data
        case 1:
            return -1 - size, data
        case 2 | 3 if size <= len(data):
            return data[:size], data[size:]
        case 5 if size <= len(data) and not is_inner:
            found = {}
            for _ in range(size):
                name, data = _read_cbor(data, is_inner=True)
                found[name], data = _read_cbor(data, is_inner=True)
            return found, data
    raise ValueError


PROVED = """
What this shows: the package is whole, and its parts agree with each other. What was approved and
signed is what was frozen, as far as the events keep digests of it.
What it does not show: whoever can write to the database can write all of it anew, events and heads
too, and a package of that agrees with itself. Only heads or a package that somebody kept where the
service could not write (--heads, --earlier) show that this did not happen, up to the moment at
which they were kept. And a signature shows that a key was used by somebody who unlocked it, not
what a screen showed them, nor whose key it is: compare the keys with what their people tell you."""


ARCHIVE_PROVED = """
What this shows: of each chain, the events in this file are what was hashed, in their order, and
none between them is missing. It tells of no record, approval or signature: a package of evidence
does, together with this file (--archive)."""


def shown(text: object) -> str:
    """Return a text of the package: short, and nothing that a terminal would do."""
    printed = "".join(each if each.isprintable() else "?" for each in str(text)[:MOST_SHOWN])
    return printed + "..." * (len(str(text)) > MOST_SHOWN)


def read_archives(paths: Sequence[str], package: Package) -> list[Package]:
    """Return the archives before a package; raises OSError, UnreadableError."""
    archives = [Package(path) for path in paths]
    if not all(each.is_archive for each in archives):
        raise UnreadableError("what --archive names is none")
    if package.begins() and not archives and not package.is_archive:
        known = [each for each in package.manifest.get("archives", []) if isinstance(each, dict)]
        files = ", ".join(shown(each.get("sha256")) for each in known)
        raise UnreadableError(
            "its audit begins behind archives, which --archive has to name as well, the oldest"
            f" first: the files with the SHA-256 {files}"
        )
    return archives


def examine(
    file: str | BinaryIO, earlier: str | None, heads: str | None, archives: Sequence[str] = ()
) -> tuple[Package, Report]:
    """Return a package, which may be open already, and what was found; raises UnreadableError."""
    try:
        kept = read_kept(heads) if heads else {}
        before = Earlier(Package(earlier)) if earlier else None
        package = Package(file)
        run = Verification(package, before, kept, read_archives(archives, package))
        return package, run.run()
    except UnreadableError as error:
        told = f"This is no package that can be verified: {shown(error)}."
    except (OSError, EOFError, NotImplementedError, *MALFORMED) as error:
        told = f"This cannot be read: {shown(error)}."
    except (BadZipFile, zlib.error, RuntimeError) as error:
        told = f"This is no whole ZIP file: {shown(error)}."
    raise UnreadableError(told)


def verify(
    file: str, earlier: str | None, heads: str | None, archives: Sequence[str] = ()
) -> tuple[str, int]:
    """Return a report, and the exit code."""
    try:
        package, report = examine(file, earlier, heads, archives)
    except UnreadableError as error:
        return str(error), 1
    lines = [title_of(package)]
    outside = [each for each in (earlier and "an earlier package", heads and "kept heads") if each]
    lines.append(f"Compared with: {' and '.join(outside) or 'nothing that was kept outside'}")
    lines += ["", *report.told, ""]
    lines += [f"PROBLEM  {shown(each)}" for each in report.problems]
    if report.count > len(report.problems):
        lines.append(f"... and {report.count - len(report.problems)} more.")
    found = f"{report.count} problems: do not rely on it."
    verdict = found if report.count else "Everything agrees."
    proved = ARCHIVE_PROVED if package.is_archive else PROVED
    return "\n".join([*lines, verdict, proved]), int(report.count > 0)


def title_of(package: Package) -> str:
    service, made_at = shown(package.manifest.get("service")), package.made_at
    if package.before is None:
        return f"Evidence of {service}, {made_at:%Y-%m-%d %H:%M} UTC"
    before = f"{package.before:%Y-%m-%d}"
    return f"An archive of the audit of {service}, before {before}: events alone, no records"


def main() -> int:
    parser = argparse.ArgumentParser(description="Verifies a package of evidence.")
    parser.add_argument("file", metavar="FILE.zip")
    parser.add_argument(
        "--archive", metavar="ARCHIVE.zip", action="append", default=[], help="old events, by age"
    )
    parser.add_argument("--earlier", metavar="OLDER.zip", help="a package that was made before")
    parser.add_argument("--heads", metavar="HEADS.txt", help="what verify_audit printed before")
    chosen = parser.parse_args()
    report, code = verify(chosen.file, chosen.earlier, chosen.heads, chosen.archive)
    sys.stdout.write(f"{report}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
