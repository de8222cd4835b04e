"""JSON that two readers would understand differently, or not at all."""

import json
from itertools import product

import pytest

from tests.hostile.target import assert_refused
from tests.tool_table import TAKING_A_DRAFT

pytestmark = pytest.mark.usefixtures("nothing_changes")

LINE = b'{"description":"x","quantity":"1","unit_price":"1"%s}'


def header(extra: bytes = b"", line_extra: bytes = b"") -> bytes:
    line = LINE % line_extra
    return b'{"currency_code":"EUR","line_items":[%s]%s}' % (line, extra)


# The plainest are in tests/interface.
UNREADABLE = {
    "true": b"true",
    "white space": b" \r\n\t",
    "cut in a name": b'{"customer_',
    "cut in a value": b'{"customer_id": "01',
    "cut in an escape": b'{"customer_id": "\\u00',
    "cut before the end": header()[:-1],
    "a brace too many": header() + b"}",
    "two values": b"{}{}",
    "a comma at the end": b'{"a": 1,}',
    "a comma at the end of a list": b'{"a": [1,]}',
    "no colon": b'{"a" 1}',
    "single quotes": b"{'a': 1}",
    "no quotes": b"{a: 1}",
    "a comment": b'{"a": 1 /* one */}',
    "a line comment": b'// a\n{"a": 1}',
    "undefined": b'{"a": undefined}',
    "Python's None": b'{"a": None}',
    "a plus sign": b'{"a": +1}',
    "leading zeros": b'{"a": 01}',
    "a bare dot": b'{"a": .5}',
    "a dot at the end": b'{"a": 1.}',
    "hexadecimal": b'{"a": 0x10}',
    "underscores": b'{"a": 1_000}',
    "Infinity": header(b',"notes":Infinity'),
    "-Infinity": header(b',"notes":-Infinity'),
    "NaN in a line": header(line_extra=b',"unit":NaN'),
    "a raw line feed in a text": b'{"a": "b\nc"}',
    "a raw NUL in a text": b'{"a": "b\x00c"}',
    "a NUL at the end": b"{}\x00",
    "a wrong escape": b'{"a": "\\x41"}',
    "UTF-8 cut short": b'{"a": "\xe2\x82"}',
    "overlong UTF-8": b'{"a": "\xc0\xaf"}',
    "a surrogate in UTF-8": b'{"a": "\xed\xa0\x80"}',
    "beyond Unicode": b'{"a": "\xf4\x90\x80\x80"}',
    "UTF-16": "{}".encode("utf-16"),
    "UTF-16 without a mark": '{"a": 1}'.encode("utf-16-le"),
    "UTF-32": "{}".encode("utf-32"),
    "compressed": b"\x1f\x8b\x08\x00",
    "a form": b"customer_id=1&currency_code=EUR",
    "XML": b"<draft/>",
    "a repeated name with an escape": header(b',"currenc\\u0079_code":"USD"'),
    "a repeated name in a line": header(line_extra=b',"unit_price":"2"'),
    "a repeated name in an unknown field": header(b',"x":{"y":[{"z":1,"z":1}]}'),
    "a repeated empty name": b'{"":1,"":1}',
    "nested one too deep": b'{"a":' + b"[" * 32 + b"]" * 32 + b"}",
    "objects one too deep": b'{"a":' * 33 + b"1" + b"}" * 33,
    "100,000 open brackets": b"[" * 100_000,
    "100,000 brackets": b"[" * 100_000 + b"]" * 100_000,
    "20,000 open objects": b'{"a":' * 20_000,
}


@pytest.mark.requirement("error.validation_failed", "error.fields")
def test_what_cannot_be_read_without_doubt_is_refused_without_fields(target, subtests):
    for tool, kind in product(TAKING_A_DRAFT, UNREADABLE):
        with subtests.test(tool=tool, kind=kind):
            answer = target.send(tool, UNREADABLE[kind])
            assert_refused(answer, 422, fields=[])
            assert answer.error["problems"] == []


@pytest.mark.parametrize("tool", TAKING_A_DRAFT)
def test_a_nesting_of_32_is_read(target, tool):
    nested = b"[" * 31 + b"]" * 31
    valid = json.dumps(target.body_for(tool)).encode()
    body = valid[:-1] + b', "x": ' + nested + b"}"
    assert_refused(target.send(tool, body), 422, fields=["x"])
    assert_refused(target.send(tool, body.replace(nested, b"[%s]" % nested)), 422, fields=[])


NUMBERS = ["1e400", "-1e400", "1E9999999", "1e-9999", "0.1", "-0", "-0.0", "9" * 4_000, "1e5"]
LINE_TEXTS = ("quantity", "unit_price", "discount_value", "description", "tax_rate_id")


@pytest.mark.requirement("money.no_numbers")
def test_a_number_is_no_text_however_odd(target, subtests):
    for number, field in product(NUMBERS, LINE_TEXTS):
        with subtests.test(number=number[:10], field=field):
            body = target.body_for("drafts.create")
            line = body["line_items"][0] | {field: "PLACE"}
            text = json.dumps(body | {"line_items": [line]}).replace('"PLACE"', number)
            answer = target.send("drafts.create", text.encode())
            assert_refused(answer, 422, fields=[f"line_items.0.{field}"])


def test_a_lock_version_is_an_ordinary_integer(target, subtests):
    text = json.dumps(target.body_for("drafts.update", lock_version="PLACE"))
    # Without a fraction, 1e5 is an integer: another version than the draft's.
    answer = target.send("drafts.update", text.replace('"PLACE"', "1e5").encode())
    assert_refused(answer, 409, fields=["lock_version"])
    for number in ["0", "-1", "true", '"1"', "2147483648", *NUMBERS[:-1], "1e10"]:
        with subtests.test(number=number[:10]):
            answer = target.send("drafts.update", text.replace('"PLACE"', number).encode())
            assert_refused(answer, 422, fields=["lock_version"])


def test_twenty_unknown_fields_are_named_and_more_are_counted(target):
    body = target.body_for("drafts.create") | {f"f{number}": 0 for number in range(20_000)}
    answer = target.send_json("drafts.create", body)
    assert_refused(answer, 422)
    assert answer.error["fields"] == [f"f{number}" for number in range(20)]
    assert "there are 19980 more" in answer.error["message"]


def test_fifty_thousand_unknown_fields_are_too_large_a_body(target):
    body = {f"{number:x}": 0 for number in range(50_000)}
    assert_refused(target.send_json("drafts.create", body), 413)
