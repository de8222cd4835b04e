"""Every column of a driver counts what its name says, and nothing where all went well."""

import csv
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from tests.breaking.drivers import (
    archives,
    exports,
    imports,
    originals,
    packages,
    sign_in_columns,
    signatures,
    telling_columns,
)
from tests.breaking.drivers.mailbox import MAIL
from tests.passkeys import SoftPasskey, encode

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def at(seconds: float) -> float:
    return (START + timedelta(seconds=seconds)).timestamp()


def note(kind: str, when: float = 0, **facts: Any) -> dict[str, Any]:
    return {"kind": kind, "at": at(when), **facts}


def counted(found: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the columns that have cases."""
    return {name: len(cases) for name, cases in found.items() if cases}


def presented(seconds: float, secret: str) -> dict[str, Any]:
    return note("presented", seconds, program="p", secret=secret)


def given(seconds: float, secret: str, refresh_token: str) -> dict[str, Any]:
    tokens = {"access_token": "a", "refresh_token": refresh_token}
    return note("answered", seconds, program="p", secret=secret, status=200, error="", **tokens)


def refused(seconds: float, secret: str) -> dict[str, Any]:
    told = {"status": 400, "error": "invalid_grant"}
    return note("answered", seconds, program="p", secret=secret, **told)


def called(seconds: float, status: int) -> list[dict[str, Any]]:
    return [
        note("calling", seconds, program="p"),
        note("called", seconds + 1, program="p", access_token="a", status=status),
    ]


SIGN_IN = sign_in_columns.SignIn("p", "c", 1, 1, 1, ["r1", "r2"], 1, 1, "", 0)
ENDED = SIGN_IN._replace(live=1, revoked_reason="refresh_reuse", revocations_told=1)
SIGNED_IN = [
    *(presented(0, "code"), given(1, "code", "r1"), *called(2, 200)),
    *(presented(4, "r1"), given(5, "r1", "r2"), *called(6, 200)),
]
SECOND_USE = [*SIGNED_IN, presented(8, "r1"), refused(9, "r1"), *called(10, 401)]
SIGN_INS: dict[str, tuple[list[dict[str, Any]], list[Any], dict[str, int]]] = {
    "a rotation": (SIGNED_IN, [SIGN_IN], {}),
    "an end by a second use": (SECOND_USE, [ENDED], {}),
    "an answer that was lost, and the end that follows": (
        [*SIGNED_IN[:5], note("lost", 5, program="p", secret="r1"), *SECOND_USE[8:]],
        [ENDED],
        {},
    ),
    "a secret that was good twice": (
        [*SIGNED_IN, presented(8, "r1"), given(9, "r1", "r2")],
        [SIGN_IN],
        {"forked sign-ins": 1},
    ),
    "two live tokens": (SIGNED_IN, [SIGN_IN._replace(live=2)], {"forked sign-ins": 1}),
    "two connections by one consent": (
        SIGNED_IN,
        [SIGN_IN, SIGN_IN._replace(connection_id="d")],
        {"forked sign-ins": 1},
    ),
    "a call after the end": (
        [*SECOND_USE, *called(12, 200)],
        [ENDED],
        {"sign-ins after a second use": 1},
    ),
    "tokens after the end": (
        [*SECOND_USE, presented(12, "r2"), given(13, "r2", "r1")],
        [ENDED],
        {"sign-ins after a second use": 1},
    ),
    "a token that is gone": (
        SIGNED_IN,
        [SIGN_IN._replace(refresh_tokens=["r1"])],
        {"sign-ins lost": 1},
    ),
    "a refusal of what was used once": (
        [*SIGNED_IN, presented(8, "r2"), refused(9, "r2")],
        [SIGN_IN],
        {"sign-ins lost": 1},
    ),
    "a call that was refused": (
        [*SIGNED_IN, *called(3500, 401)],
        [SIGN_IN],
        {"sign-ins lost": 1},
    ),
    "a call that was refused after the token's hour": (
        [*SIGNED_IN, *called(3605, 401)],
        [SIGN_IN],
        {},
    ),
    "a rotation without its event": (
        SIGNED_IN,
        [SIGN_IN._replace(rotations_told=0)],
        {"sign-ins without their event": 1},
    ),
    "an end without its event": (
        SECOND_USE,
        [ENDED._replace(revocations_told=0)],
        {"sign-ins without their event": 1},
    ),
}


@pytest.mark.parametrize(("notes", "rows", "expected"), SIGN_INS.values(), ids=SIGN_INS)
def test_columns_of_sign_ins(notes, rows, expected):
    assert counted(sign_in_columns.find(notes, rows)) == expected


def sent(seconds: float, way: str, mood: str = "well", **facts: Any) -> dict[str, Any]:
    told = {"way": way, "approval_id": "q", "mood": mood, "text": "Approve /approvals/q"}
    mail = {"message_id": "<1>"} if way == MAIL else {}
    return note("sent", seconds, **(told | mail | facts), is_taken=mood != "busy")


def confirmed(seconds: float, way: str, *, took: float = 0.1) -> dict[str, Any]:
    return note("confirmed", seconds, way=way, approval_id="q", seconds=took)


TOLD = [
    note("asked", 0, approval_id="q"),
    *(sent(1, "/one"), confirmed(1.1, "/one")),
    *(sent(2, MAIL, "busy"), sent(4, MAIL), confirmed(4.1, MAIL)),
]
DELIVERIES = [
    telling_columns.Delivery("q", "/one", 1, "sent"),
    telling_columns.Delivery("q", MAIL, 2, "sent"),
]
TELLING_ROWS = telling_columns.Rows(
    approvals=["q"], notified=["q"], deliveries=DELIVERIES, subscribed=["/one"]
)
COUNTED_TWICE = telling_columns.Rows(
    approvals=["q"],
    notified=["q"],
    deliveries=[telling_columns.Delivery("q", "/one", 2, "sent"), DELIVERIES[1]],
    subscribed=["/one"],
)
KEPT_THOUGH_GONE = replace(TELLING_ROWS, subscribed=["/one", "/left"])
LEFT = [note("knocked", 3, way="/left"), note("gone", 3, way="/left")]
TELLINGS: dict[str, tuple[list[dict[str, Any]], telling_columns.Rows, dict[str, int]]] = {
    "told in both ways": (TOLD, TELLING_ROWS, {}),
    "told again after a kill": (
        [*TOLD[:3], note("killed", 1.2), *TOLD[3:], sent(31, "/one")],
        COUNTED_TWICE,
        {},
    ),
    "told again after a late answer": (
        [*TOLD[:2], confirmed(5, "/one", took=4), sent(6, "/one"), *TOLD[3:]],
        COUNTED_TWICE,
        {},
    ),
    "told again without a reason": (
        [*TOLD, sent(35, "/one")],
        COUNTED_TWICE,
        {"told once more than promised": 1},
    ),
    "told oftener than counted": (
        [*TOLD[:1], sent(0.5, "/one", "busy"), *TOLD[1:]],
        TELLING_ROWS,
        {"told once more than promised": 1},
    ),
    "told by two mails": (
        [*TOLD[:3], sent(2, MAIL, "busy", message_id="<2>"), *TOLD[4:]],
        TELLING_ROWS,
        {"told once more than promised": 1},
    ),
    "not told by mail": (TOLD[:4], TELLING_ROWS, {"requests never told": 2}),
    "not noted": (
        TOLD,
        replace(TELLING_ROWS, approvals=["q", "r"]),
        {"requests never told": 1},
    ),
    "a browser that left": ([*TOLD, *LEFT, note("knocked", 4, way="/left")], TELLING_ROWS, {}),
    "one that is kept though it left": (
        [*TOLD, *LEFT],
        KEPT_THOUGH_GONE,
        {"subscriptions that are gone and kept": 1},
    ),
    "one that is told later though it left": (
        [*TOLD, *LEFT, note("knocked", 30, way="/left")],
        TELLING_ROWS,
        {"subscriptions that are gone and kept": 1},
    ),
    "one whose worker was killed": (
        [*TOLD, *LEFT, note("killed", 3.1), note("knocked", 30, way="/left")],
        KEPT_THOUGH_GONE,
        {},
    ),
    "told with an amount": (
        [*TOLD, sent(50, "/two", text="/approvals/q 12.50 EUR")],
        TELLING_ROWS,
        {"secrets told": 1},
    ),
}


@pytest.mark.parametrize(("notes", "rows", "expected"), TELLINGS.values(), ids=TELLINGS)
def test_columns_of_telling(notes, rows, expected):
    assert counted(telling_columns.find(notes, rows, {"EUR"})) == expected


GOT = note("downloaded", document_id="d", file="pdf", digest="7", etag='"7"')
KEPT = originals.Kept("d", "pdf", "7", "7")
EVENT = ("d", "pdf 7")
ORIGINALS: dict[str, tuple[list[dict[str, Any]], originals.Rows, dict[str, int]]] = {
    "a download": ([GOT], originals.Rows([KEPT], [EVENT]), {}),
    "one that was broken off": ([GOT], originals.Rows([KEPT], [EVENT, EVENT]), {}),
    "another file later": (
        [GOT, GOT | {"digest": "8", "etag": '"8"'}],
        originals.Rows([KEPT], [EVENT, ("d", "pdf 8")]),
        {"originals that changed": 1, "downloads without their event": 1},
    ),
    "a file that is gone": (
        [GOT],
        originals.Rows([], [EVENT]),
        {"downloads without their event": 1},
    ),
    "a file that is kept twice": (
        [GOT],
        originals.Rows([KEPT, KEPT], [EVENT]),
        {"originals that changed": 1},
    ),
    "a file that is not what it says": (
        [GOT],
        originals.Rows([KEPT._replace(told="8")], [EVENT]),
        {"originals that changed": 1},
    ),
    "a download without an event": (
        [GOT],
        originals.Rows([KEPT], []),
        {"downloads without their event": 1},
    ),
}


@pytest.mark.parametrize(("notes", "rows", "expected"), ORIGINALS.values(), ids=ORIGINALS)
def test_columns_of_originals(notes, rows, expected):
    assert counted(originals.find(notes, rows)) == expected


def towns(*numbers: int) -> list[tuple[str, str]]:
    places = [*numbers, *[numbers[-1]] * (imports.CUSTOMERS - len(numbers))]
    return [(f"{imports.PREFIX}{place}", f"Town {town}") for place, town in enumerate(places)]


WROTE = ("f2", f"new 0, changed {imports.CUSTOMERS}, sha256 7")
IMPORTED = [note("importing", 0, town=2, id="f2"), note("done", 1, town=2)]
IMPORTS: dict[str, tuple[list[dict[str, Any]], imports.Rows, dict[str, int]]] = {
    "an import": (IMPORTED, imports.Rows(towns(2), [WROTE]), {}),
    "one of which nobody was told": (IMPORTED[:1], imports.Rows(towns(2), [WROTE]), {}),
    "one that was not done": (IMPORTED[:1], imports.Rows([], []), {}),
    "half of the customers": (
        IMPORTED,
        imports.Rows(towns(2)[:7], [WROTE]),
        {"imports in part": 1},
    ),
    "half of the towns": (
        IMPORTED,
        imports.Rows(towns(2, 1), [WROTE]),
        {"imports in part": 1, "imports lost": 1},
    ),
    "half of the rows": (
        IMPORTED,
        imports.Rows(towns(2), [("f2", "new 0, changed 7, sha256 7")]),
        {"imports in part": 1},
    ),
    "an import that is gone": (IMPORTED, imports.Rows(towns(1), [WROTE]), {"imports lost": 1}),
    "one without its event": (IMPORTED, imports.Rows(towns(2), []), {"imports lost": 1}),
    "one that was done twice": (
        IMPORTED,
        imports.Rows(towns(2), [WROTE, WROTE]),
        {"imports lost": 1},
    ),
}


@pytest.mark.parametrize(("notes", "rows", "expected"), IMPORTS.values(), ids=IMPORTS)
def test_columns_of_imports(notes, rows, expected):
    assert counted(imports.find(notes, rows)) == expected


ISSUED = [
    exports.Issued("INV-1", "c", "a", 1190, 2, START),
    exports.Issued("CN-1", "c", "", -1190, 1, START),
    exports.Issued("INV-2", "c", "a", 500, 1, START + timedelta(seconds=5)),
    exports.Issued("INV-3", "d", "a", 500, 1, START),
    exports.Issued("INV-4", "c", "a", 500, 1, START + timedelta(seconds=20)),
]
DOCUMENTS = {"INV-1": "11.90", "CN-1": "-11.90"}
EXPORTS: dict[str, tuple[list[tuple[str, str]], int]] = {
    "all that was issued before": ([*DOCUMENTS.items()], 0),
    "one more that was issued meanwhile": ([*DOCUMENTS.items(), ("INV-2", "5.00")], 0),
    "one is missing": ([("INV-1", "11.90")], 1),
    "one is there twice": ([*DOCUMENTS.items(), ("INV-1", "11.90")], 1),
    "another total": ([("INV-1", "11.91"), ("CN-1", "-11.90")], 1),
    "another customer's": ([*DOCUMENTS.items(), ("INV-3", "5.00")], 1),
    "one that was issued later": ([*DOCUMENTS.items(), ("INV-4", "5.00")], 1),
}


@pytest.mark.parametrize(("table", "expected"), EXPORTS.values(), ids=EXPORTS)
def test_a_whole_export_is_compared_with_what_was_issued(tmp_path: Path, table, expected):
    text = StringIO()
    csv.writer(text).writerows([("Number", "Grand total"), *table])
    content = text.getvalue().encode("utf-8-sig")
    digest = hashlib.sha256(content).hexdigest()
    (tmp_path / digest).write_bytes(content)
    told = note("whole", 10, file="documents", customer="c", writer="", begun_at=at(1))
    told |= {"digest": digest, "size": len(content)}
    events = [("documents", f"{len(content)} bytes, SHA-256 {digest}")]
    rows = exports.Rows(ISSUED, events, [])
    [cases] = exports.find([told], rows, tmp_path).values()
    assert len(cases) == expected
    [cases] = exports.find([told], rows._replace(events=[]), tmp_path).values()
    assert len(cases) == expected + 1


INDEX_HEAD = ("Number", "File", "SHA-256", "Why it is missing")
PDF = hashlib.sha256(b"PDF").hexdigest()
FIRST_FILE = ("INV-1", "1.pdf", PDF, "")
ARCHIVES: dict[str, tuple[list[tuple[str, ...]], dict[str, bytes], int]] = {
    "all that was issued before": ([FIRST_FILE], {"1.pdf": b"PDF"}, 0),
    "one that cannot be made": ([("INV-1", "", "", "It has no address.")], {}, 0),
    "one without a reason": ([("INV-1", "", "", "")], {}, 1),
    "one is missing": ([], {}, 1),
    "one that there was not": ([FIRST_FILE, ("INV-7", "", "", "?")], {"1.pdf": b"PDF"}, 1),
    "a file that is not there": ([FIRST_FILE], {}, 1),
    "another file": ([FIRST_FILE], {"1.pdf": b"DOC"}, 1),
    "a file that nobody named": ([FIRST_FILE], {"1.pdf": b"PDF", "2.pdf": b""}, 1),
    "a file that is not kept so": (
        [("INV-1", "1.pdf", hashlib.sha256(b"DOC").hexdigest(), "")],
        {"1.pdf": b"DOC"},
        1,
    ),
}


@pytest.mark.parametrize(("table", "files", "expected"), ARCHIVES.values(), ids=ARCHIVES)
def test_a_whole_archive_is_compared_with_the_originals(tmp_path: Path, table, files, expected):
    index = StringIO()
    csv.writer(index).writerows([INDEX_HEAD, *table])
    with ZipFile(tmp_path / "a.zip", "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        archive.writestr("index.csv", index.getvalue().encode("utf-8-sig"))
    content = (tmp_path / "a.zip").read_bytes()
    expect: dict[str, Any] = {"known": {"INV-1"}, "wanted": {"INV-1"}, "kept": {("INV-1", PDF)}}
    assert len([*archives.find_flaws("a", content, **expect)]) == expected
    assert len([*archives.find_flaws("a", content[:-9], **expect)]) == 1


ENDING = note("ended", 10, name="one", status=0, is_there=True, begun_at=at(1))
VERIFIED = note("verified", 12, name="one", status=0, said=[])
PACKAGES: dict[str, tuple[list[dict[str, Any]], dict[str, str], dict[str, int]]] = {
    "a package": ([ENDING, VERIFIED], {"d": "INV-1"}, {}),
    "one more document": ([ENDING, VERIFIED], {"d": "INV-1", "e": "INV-2"}, {}),
    "a document is missing": ([ENDING, VERIFIED], {}, {"documents without evidence": 1}),
    "another number": (
        [ENDING, VERIFIED],
        {"d": "INV-7"},
        {"documents without evidence": 1},
    ),
    "one that does not verify": (
        [ENDING, VERIFIED | {"status": 1}],
        {"d": "INV-1"},
        {"packages that do not verify": 1},
    ),
    "one that failed and is there": (
        [ENDING | {"status": 1}, VERIFIED | {"status": 1}],
        {},
        {"packages that do not verify": 1},
    ),
    "one that was killed": ([ENDING | {"status": -9}, VERIFIED | {"status": 1}], {}, {}),
}


@pytest.mark.parametrize(("notes", "documents", "expected"), PACKAGES.values(), ids=PACKAGES)
def test_columns_of_packages(tmp_path: Path, notes, documents, expected):
    with ZipFile(tmp_path / "one.zip", "w") as package:
        rows = [
            json.dumps({"id": pk, "content": json.dumps({"number": number})})
            for pk, number in documents.items()
        ]
        package.writestr("documents.jsonl", "\n".join(rows))
    digest = hashlib.sha256((tmp_path / "one.zip").read_bytes()).hexdigest()
    (tmp_path / "one.log").write_text(f"one.zip: 7 bytes, SHA-256 {digest}\n", encoding="utf-8")
    issued = [
        packages.Issued("d", "INV-1", START),
        packages.Issued("e", "INV-2", START + timedelta(seconds=5)),
    ]
    assert counted(packages.find(notes, issued, tmp_path)) == expected


SOFT = SoftPasskey()
KEYS = {encode(SOFT.credential_id): SOFT.key.public_key()}
FINGERPRINT = hashlib.sha256(b"{}").hexdigest()


def signature(**lies: Any) -> signatures.Signature:
    challenge = json.dumps({"approval": "q", "fingerprint": FINGERPRINT})
    signed = json.loads(SOFT.sign(hashlib.sha256(challenge.encode()).digest(), **lies))["response"]
    return signatures.Signature(
        record_id="q",
        purpose="approve",
        credential_id=encode(SOFT.credential_id),
        challenge=challenge,
        client_data=signed["clientDataJSON"],
        authenticator_data=signed["authenticatorData"],
        signature=signed["signature"],
        facts="{}",
        fingerprint=FINGERPRINT,
        asked=FINGERPRINT,
        decision="approved",
    )


SIGNATURES = {
    "an approval": (signature(), 0),
    "an act by hand": (signature()._replace(asked="", decision=""), 0),
    "by another key": (signature(key=SoftPasskey().key), 1),
    "of nobody's key": (signature()._replace(credential_id="nobody"), 1),
    "elsewhere": (signature(origin="https://evil.example"), 1),
    "over another challenge": (
        signature()._replace(challenge=f'{{"q": "{FINGERPRINT}", "approval": "q"}}'),
        1,
    ),
    "of other facts": (signature()._replace(facts="[]"), 1),
    "of another record": (signature()._replace(record_id="r"), 1),
    "of another request": (signature()._replace(asked="7"), 1),
    "of what was rejected": (signature()._replace(decision="rejected"), 1),
}


@pytest.mark.parametrize(("row", "expected"), SIGNATURES.values(), ids=SIGNATURES)
def test_a_signature_holds_only_if_the_person_signed_what_was_approved(row, expected):
    assert len(list(signatures.find_unsound([row], KEYS))) == expected
