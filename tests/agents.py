"""An agent that calls tools over HTTP with a credential, as the interface describes."""

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

# WWW-Authenticate without a credential, and with one that is not accepted.
CHALLENGE = 'Bearer realm="agents"'
BAD_CREDENTIAL = f'{CHALLENGE}, error="invalid_token"'


@dataclass(frozen=True)
class Answer:
    """The answer to a request, with the exact bytes of its body."""

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
    """Return the answer; its cookies become header fields, as a server would send them."""
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
        """Call a tool by its dotted name; the arguments become the query or the JSON body."""
        method, path = TABLE[tool].route
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
