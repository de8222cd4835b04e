"""From arguments to an input: every wrong field at once, and no value repeated."""

from typing import Annotated, Literal

import pytest
from pydantic import AfterValidator, Field

from agent_access.errors import FieldProblem, ValidationFailedError
from agent_access.fields import WHOLE, ToolInput, problem, safe_name
from agent_access.inputs import parse_input

LIST_AS_TEXT = "must be a list, not a string with JSON in it: send the list itself"
OBJECT_AS_TEXT = "must be an object, not a string with JSON in it: send the object itself"


def refuse_odd(value: int) -> int:
    if value % 2:
        raise problem("must be even")
    return value


class Row(ToolInput):
    word: Annotated[str, Field(min_length=1, max_length=3)]
    kind: Literal["a", "b"] = "a"


class Example(ToolInput):
    even: Annotated[int, AfterValidator(refuse_odd), Field(ge=0, le=10), WHOLE]
    rows: Annotated[list[Row], Field(min_length=1, max_length=2)]
    note: Annotated[str | None, Field(max_length=10)] = None
    code: Annotated[str, Field(pattern="^[a-z]*$")] = ""


VALID = {"even": 2, "rows": [{"word": "abc"}]}


def find_problems(arguments, also=()) -> list[tuple[str, str]]:
    with pytest.raises(ValidationFailedError) as refusal:
        parse_input(Example, arguments, known_problems=also)
    return [(each.field, each.problem) for each in refusal.value.problems]


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({"even": 3}, [("even", "must be even")]),
        ({"even": -2}, [("even", "must be at least 0")]),
        ({"even": 12}, [("even", "must be at most 10")]),
        ({"even": "2"}, [("even", "must be an integer")]),
        ({"even": float("inf")}, [("even", "must be an integer")]),
        ({"note": 1}, [("note", "must be a string")]),
        # No words of the library's own, which may hold what was sent.
        ({"code": "A"}, [("code", "is wrong")]),
        ({"note": "\ud800"}, [("note", "must be Unicode text")]),
        ({"rows": ' [{"word": "a"}]'}, [("rows", LIST_AS_TEXT)]),
        ({"rows": ['{"word": "a"}']}, [("rows.0", OBJECT_AS_TEXT)]),
        ({"even": "[2]"}, [("even", "must be an integer")]),
        ({"rows": []}, [("rows", "must not be empty")]),
        ({"rows": [{"word": "a"}] * 3}, [("rows", "must have at most 2 entries")]),
        ({"rows": [{"word": "abcd"}]}, [("rows.0.word", "must have at most 3 characters")]),
        ({"rows": [{"word": "a", "kind": "c"}]}, [("rows.0.kind", "must be 'a' or 'b'")]),
        ({"rows": [{"word": "a", "x": 1}]}, [("rows.0.x", "is not a field of this tool")]),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_wrong_field_is_named_with_what_is_wrong(changes, problems):
    assert find_problems(VALID | changes) == problems


def test_all_wrong_fields_are_named_at_once():
    found = find_problems({"rows": [{"word": 1}, {"kind": 2}], "x": 1}, [FieldProblem("k", "no")])
    assert sorted(found) == [
        ("even", "is required"),
        ("k", "no"),
        ("rows.0.word", "must be a string"),
        ("rows.1.kind", "must be 'a' or 'b'"),
        ("rows.1.word", "is required"),
        ("x", "is not a field of this tool"),
    ]


@pytest.mark.parametrize("value", [2.0, -0.0])
def test_a_number_without_a_fraction_is_an_integer(value):
    [parsed, *_] = parse_input(Example, VALID | {"even": value}).model_dump().values()
    assert repr(parsed) == str(int(value))


def test_null_stands_for_an_optional_field_and_for_no_other():
    sent = VALID | {"note": None, "code": None}
    assert parse_input(Example, sent) == parse_input(Example, VALID)
    assert find_problems(sent | {"even": None, "x": None}) == [
        ("even", "must be an integer"),
        ("x", "is not a field of this tool"),
    ]


def test_many_unknown_fields_are_bounded_and_counted():
    sent = VALID | {f"f{n}": 1 for n in range(50_000)}
    with pytest.raises(ValidationFailedError) as refusal:
        parse_input(Example, sent)
    error = refusal.value.body()["error"]
    assert list(error) == ["code", "message", "problems", "fields"]
    assert error["fields"] == [f"f{n}" for n in range(20)]
    assert [each["field"] for each in error["problems"]] == error["fields"]
    counted = "Only the first 20 problems are named; there are 49980 more."
    assert error["message"] == f"{ValidationFailedError.message} {counted}"


NAMES = ["line_items", "a" * 40]
NO_NAMES = ["a" * 41, "", "<script>", "né", "a\n"]


@pytest.mark.parametrize("name", NAMES + NO_NAMES, ids=ascii)
def test_a_name_is_repeated_only_if_it_can_be_a_fields_name(name):
    said = name if name in NAMES else "?"
    assert safe_name(name) == said
    assert find_problems(VALID | {name: 1}) == [(said, "is not a field of this tool")]
    assert find_problems(VALID | {"\ud800": 1}) == [("?", "must be Unicode text")]
