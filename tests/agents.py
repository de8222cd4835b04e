"""An outside program, as the interface describes it: a credential and calls to tools."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.test import Client

from tests.api_document import check_documented
from tests.tool_table import TABLE

HOST = "invoices.example"

# What a caller is told who is not known, and one whose bearer credential opens nothing.
CHALLENGE = 'Bearer realm="agents"'
BAD_CREDENTIAL = f'{CHALLENGE}, error="invalid_token"'


@dataclass(frozen=True)
class Answer:
    """What came back: the status, the header fields and the exact body."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.content)

    @property
    def data(self) -> Any:
        return self.body["data"]

    @property
    def error(self) -> Any:
        return self.body["error"]

    @property
    def code(self) -> str:
        code: str = self.error["code"]
        return code


def read_answer(response: Any) -> Answer:
    """Return what a server would send: to the header fields Django adds cookies at the end only."""
    if response.cookies:
        response.headers["Set-Cookie"] = response.cookies.output(header="", sep=",")
    return Answer(response.status_code, response.headers, response.content)


class HttpAgent:
    """Calls the tools over HTTP with one credential, or none."""

    def __init__(self, credential: str | None) -> None:
        self.credential = credential
        self._client = Client()

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        id: UUID | str | None = None,  # noqa: A002  the interface's word
        key: str | None = None,
    ) -> Answer:
        """Call a tool by its dotted name: arguments become the query or the JSON body."""
        method, path = TABLE[tool].place
        path = path.replace("{id}", str(id))
        headers = {} if key is None else {"Idempotency-Key": key}
        if method == "GET":
            query = urlencode(arguments or {}, doseq=True)
            return self.request(method, path, query=query, headers=headers)
        body = json.dumps(arguments or {}).encode()
        return self.request(method, path, body=body, headers=headers)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: str = "",
        body: bytes = b"",
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
        **environ: Any,
    ) -> Answer:
        """Send any request; `environ` adds to, or replaces in, the WSGI environment."""
        sent = {"Host": HOST, "Accept": "application/json"}
        if self.credential is not None:
            sent["Authorization"] = f"Bearer {self.credential}"
        response = self._client.generic(
            method,
            path,
            body,
            content_type,
            secure=True,
            headers={**sent, **(headers or {})},
            QUERY_STRING=query,
            **environ,
        )
        answer = read_answer(response)
        check_documented(method, path, answer)
        return answer
