"""Compares every answer that a test gets from the API with the OpenAPI document."""

import re
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from agent_access.openapi import describe_api

if TYPE_CHECKING:
    from tests.agents import Answer

API = re.compile(r"/api/v1(/.*)?", re.DOTALL)
NAME = "urn:api"


@cache
def read_document() -> dict[str, Any]:
    return describe_api()


def check_documented(method: str, path: str, answer: "Answer") -> None:
    """Assert that the document describes this answer: its status, header fields and body."""
    if not API.fullmatch(path) or method == "HEAD":
        return
    response = check_body(method, path, answer)
    for name, reference in response["headers"].items():
        header = _read(reference["$ref"].removeprefix("#"))
        assert name in answer.headers or not header.get("required"), name


def check_body(method: str, path: str, answer: "Answer") -> dict[str, Any]:
    """Assert that the document describes this body; return its response object."""
    pointer = _find_response(method, path, answer)
    while "$ref" in (response := _read(pointer)):
        pointer = response["$ref"].removeprefix("#")
    assert answer.status < HTTPStatus.BAD_REQUEST or answer.code in codes_of(response)
    _validator(f"{pointer}/content/application~1json/schema").validate(answer.body)
    return response


def codes_of(response: dict[str, Any]) -> list[str]:
    """Return the error codes that the description of a response lists."""
    return re.findall(r"^`([a-z_]+)`: ", response["description"], re.MULTILINE)


def _find_response(method: str, path: str, answer: "Answer") -> str:
    """Return the JSON pointer to the response; an unknown path has only the common refusals."""
    template = next((each for each in _templates() if _matches(each, path)), "")
    # Methods are case-sensitive: `post` is one that no path has.
    if method.isupper() and method.lower() in read_document()["paths"].get(template, ()):
        escaped = template.replace("/", "~1")
        return f"/paths/{escaped}/{method.lower()}/responses/{answer.status}"
    assert answer.code in {"forbidden", "not_found", "method_not_allowed"}
    return f"/components/responses/{answer.code}"


@cache
def _templates() -> list[str]:
    return sorted(read_document()["paths"], key=lambda template: "{id}" in template)


def _matches(template: str, path: str) -> bool:
    return re.fullmatch(template.replace("{id}", "[^/]+"), path) is not None


def _read(pointer: str) -> dict[str, Any]:
    found: Any = read_document()
    for part in pointer.strip("/").split("/"):
        found = found[part.replace("~1", "/")]
    value: dict[str, Any] = found
    return value


@cache
def _validator(pointer: str) -> Draft202012Validator:
    resource = Resource.from_contents(read_document(), default_specification=DRAFT202012)
    registry: Registry[Any] = Registry().with_resource(NAME, resource)
    return Draft202012Validator(
        {"$ref": f"{NAME}#{pointer}"},
        registry=registry,
        format_checker=Draft202012Validator.FORMAT_CHECKER,
    )
