"""Text that no person can read, and text that only looks strange."""

import json
from itertools import product

import pytest

from agent_access.errors import MAX_PROBLEMS
from invoicing.models import Document
from tests.hostile.target import assert_refused
from tests.tool_table import TAKING_A_DRAFT

# Its types and its driver refuse values that SQLite takes.
pytestmark = pytest.mark.postgresql

# But for the tab and the line ends, which tests/interface has.
CONTROLS = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n\r"]
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


@pytest.mark.usefixtures("nothing_changes")
@pytest.mark.parametrize("field", ["notes", "reference"])
def test_no_control_character_is_taken_in_a_text_of_the_header(target, subtests, field):
    for character, place in product(CONTROLS, PLACES):
        with subtests.test(character=ascii(character), place=place):
            body = target.body_for("documents.preview", **{field: place.format(character)})
            answer = target.send_json("documents.preview", body)
            assert_refused(answer, 422, fields=[field])


@pytest.mark.usefixtures("nothing_changes")
@pytest.mark.parametrize("field", ["description", "unit"])
@pytest.mark.parametrize("place", PLACES)
def test_no_control_character_is_taken_in_a_text_of_a_line(target, field, place):
    line = target.draft_body["line_items"][0]
    lines = [line | {field: place.format(character)} for character in CONTROLS]
    for tool, first in product(TAKING_A_DRAFT, range(0, len(lines), MAX_PROBLEMS)):
        sent = lines[first : first + MAX_PROBLEMS]
        answer = target.send_json(tool, target.body_for(tool, line_items=sent))
        fields = [f"line_items.{number}.{field}" for number in range(len(sent))]
        assert_refused(answer, 422, fields=fields)


@pytest.mark.usefixtures("nothing_changes")
def test_every_field_refuses_a_lone_surrogate_and_a_nul(target, subtests):
    valid = target.body_for("drafts.update")
    header = [(field, field) for field in valid if field != "line_items"]
    line = [(f"line_items.0.{field}", field) for field in valid["line_items"][0]]
    for bad, (path, field) in product(
        ("\ud800", "a\udfffb", "\ude00\ud83d", "\x00"), header + line
    ):
        with subtests.test(path=path, bad=ascii(bad)):
            body = valid | {field: bad} if path == field else with_line(valid, field, bad)
            answer = target.send_json("drafts.update", body)
            assert_refused(answer, 422, fields=[path])


@pytest.mark.usefixtures("nothing_changes")
@pytest.mark.parametrize("name", ["\ud800", "a\udfff", "\x00", "\u202e", "", " ", "a" * 100_000])
def test_a_name_that_nobody_can_read_is_not_repeated(target, name):
    body = target.body_for("drafts.create")
    answer = target.send_json("drafts.create", body | {name: 1})
    assert_refused(answer, 422, fields=["?"])
    answer = target.send_json("drafts.create", with_line(body, name, 1))
    assert_refused(answer, 422)
    assert answer.error["fields"][0] in {"line_items.0.?", "line_items.0"}


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
