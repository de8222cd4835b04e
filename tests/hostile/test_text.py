"""Text that no person can read, and text that only looks strange."""

import json
from itertools import product

import pytest

from agent_access.errors import MAX_PROBLEMS
from invoicing.models import Document
from tests.hostile.target import BODY_TOOLS, assert_nothing_changed, assert_refused
from tests.snapshots import take_snapshot

# Its types and its driver refuse values that SQLite takes.
pytestmark = pytest.mark.postgresql

CONTROLS = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))]
TAB_AND_LINE_ENDS = "\t\n\r"
PLACES = ("a{}b", "{}ab", "ab{}")

# Each of these is a text, whatever it looks like.
READABLE = [
    "Ärger & Söhne — “quoted”",
    "日本語 한국어 עברית العربية ไทย हिन्दी",
    "👩\u200d👩\u200d👧 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "direction \u202e marks \u2066 and \u2069",
    "line\u2028and paragraph\u2029separators",
    "noncharacters \ufffe \uffff \U0010ffff",
    "private use \ue000",
    "a\ufeffmark in the middle",
    "e\u0301 is not é",
    "'; DROP TABLE invoices_document; --",
    "<script>alert(1)</script>",
    "{{ 7 * 7 }} ${7*7} %s %(x)s {0}",
    "../../etc/passwd",
    "\\u0000 and \\x00 as they are typed",
    '"quotes" and \\backslashes\\',
]


def with_line(body, field, value):
    return body | {"line_items": [body["line_items"][0] | {field: value}]}


def test_no_control_character_is_taken_in_a_text_of_the_header(target, subtests):
    before = take_snapshot()
    for field in ("notes", "reference"):
        for character in CONTROLS:
            for place in PLACES:
                if character in TAB_AND_LINE_ENDS and (field == "notes" or place != PLACES[0]):
                    continue
                if character == "\t":
                    continue
                with subtests.test(field=field, character=ascii(character), place=place):
                    body = target.body_for("documents.preview", **{field: place.format(character)})
                    answer = target.send_json("documents.preview", body)
                    assert_refused(answer, 422, fields=[field])
    assert_nothing_changed(before)


@pytest.mark.parametrize("field", ["description", "unit"])
@pytest.mark.parametrize("place", PLACES)
def test_no_control_character_is_taken_in_a_text_of_a_line(target, field, place):
    before = take_snapshot()
    texts = [place.format(each) for each in CONTROLS if each not in TAB_AND_LINE_ENDS]
    line = target.draft_body["line_items"][0]
    lines = [line | {field: text} for text in texts]
    for tool, first in product(BODY_TOOLS, range(0, len(lines), MAX_PROBLEMS)):
        sent = lines[first : first + MAX_PROBLEMS]
        answer = target.send_json(tool, target.body_for(tool, line_items=sent))
        fields = [f"line_items.{number}.{field}" for number in range(len(sent))]
        assert_refused(answer, 422, fields=fields)
    assert_nothing_changed(before)


def test_a_line_end_is_taken_where_a_text_may_have_several_lines(target):
    body = target.body_for("drafts.create", notes="\r\none\rtwo\nthree\tfour\n")
    body = with_line(body, "description", "one\r\ntwo\tthree")
    data = target.send_json("drafts.create", body).data
    assert data["notes"] == "one\ntwo\nthree four"
    assert data["line_items"][0]["description"] == "one\ntwo three"


@pytest.mark.parametrize("line_end", ["\n", "\r", "\r\n"])
def test_a_line_end_is_refused_in_a_text_of_one_line(target, line_end):
    before = take_snapshot()
    body = target.body_for("drafts.create", reference=f"a{line_end}b")
    body = with_line(body, "unit", f"a{line_end}b")
    answer = target.send_json("drafts.create", body)
    assert_refused(answer, 422, fields=["line_items.0.unit", "reference"])
    assert_nothing_changed(before)


def test_every_field_refuses_a_lone_surrogate_and_a_nul(target, subtests):
    before = take_snapshot()
    header = target.body_for("drafts.update")
    for bad in ("\ud800", "a\udfffb", "\ude00\ud83d", "\x00", "a\x00"):
        for field in header:
            if field == "line_items":
                continue
            with subtests.test(field=field, bad=ascii(bad)):
                answer = target.send_json("drafts.update", header | {field: bad})
                assert_refused(answer, 422, fields=[field])
        for field in header["line_items"][0]:
            with subtests.test(field=field, bad=ascii(bad)):
                answer = target.send_json("drafts.update", with_line(header, field, bad))
                assert_refused(answer, 422)
                assert f"line_items.0.{field}" in answer.error["fields"]
    assert_nothing_changed(before)


@pytest.mark.parametrize("name", ["\ud800", "a\udfff", "\x00", "\u202e", "", " ", "a" * 100_000])
def test_a_name_that_nobody_can_read_is_not_repeated(target, name):
    before = take_snapshot()
    body = target.body_for("drafts.create")
    answer = target.send_json("drafts.create", body | {name: 1})
    assert_refused(answer, 422, fields=["?"])
    answer = target.send_json("drafts.create", with_line(body, name, 1))
    assert_refused(answer, 422)
    assert answer.error["fields"][0] in {"line_items.0.?", "line_items.0"}
    assert_nothing_changed(before)


def test_readable_text_is_kept_letter_by_letter(target, subtests):
    for number, text in enumerate(READABLE):
        with subtests.test(text=text):
            body = with_line(target.body_for("drafts.create", notes=text), "description", text)
            body["reference"] = text[:100]
            sent = json.dumps(body, ensure_ascii=bool(number % 2)).encode()
            answer = target.send("drafts.create", sent, HTTP_IDEMPOTENCY_KEY=f"k{number}")
            assert answer.status == 201
            assert (answer.data["notes"], answer.data["reference"]) == (text, text[:100])
            assert answer.data["line_items"][0]["description"] == text
            stored = Document.objects.get(pk=answer.data["id"])
            assert (stored.notes, stored.reference) == (text, text[:100])
            found = target.request("GET", f"/api/v1/documents/{stored.id}")
            assert found.data == answer.data


@pytest.mark.requirement("limit.notes", "limit.reference", "limit.line_description")
@pytest.mark.requirement("limit.line_unit")
@pytest.mark.parametrize("character", ["x", "日", "👩"])
def test_a_limit_counts_code_points_after_trimming(target, character):
    body = target.body_for("documents.preview", notes=f"\n {character * 5000}\r\n")
    body["reference"] = f" {character * 100}\t"
    body = with_line(body, "description", f" {character * 1000} ")
    body = with_line(body, "unit", f" {character * 20} ")
    assert target.send_json("documents.preview", body).status == 200

    body = target.body_for("documents.preview", notes=character * 5001)
    body["reference"] = character * 101
    body["line_items"] = [
        body["line_items"][0] | {"description": character * 1001, "unit": character * 21}
    ]
    answer = target.send_json("documents.preview", body)
    fields = ["line_items.0.description", "line_items.0.unit", "notes", "reference"]
    assert_refused(answer, 422, fields=fields)
