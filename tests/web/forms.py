"""What a page says, and what a browser would send back of the form that it shows."""

import re
from html.parser import HTMLParser
from typing import Any

from typing_extensions import override

ISOLATION = re.compile(r'<span class="unit"><bdi>(.*?)</bdi></span>|</?bdi>')
TOKEN = re.compile(r'<input type="hidden" name="csrfmiddlewaretoken" value="\w+">')


class _Fields(HTMLParser):
    """Collects the fields of the last form that is sent by POST to the page itself."""

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[str, str] = {}
        self._reads = False
        self._textarea = self._select = ""

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        name = values.get("name", "")
        if tag == "form":
            self._reads = values.get("method") == "post" and values.get("action", "?") == "?"
        elif self._reads and tag == "input" and name:
            self.values[name] = values.get("value", "")
        elif self._reads and tag == "textarea":
            self._textarea, self.values[name] = name, ""
        elif self._reads and tag == "select":
            self._select = name
        elif self._reads and tag == "option" and ("selected" in values or self._is_first_option):
            self.values[self._select] = values.get("value", "")

    @property
    def _is_first_option(self) -> bool:
        return self._select not in self.values

    @override
    def handle_endtag(self, tag: str) -> None:
        self._textarea = "" if tag == "textarea" else self._textarea
        self._reads = self._reads and tag != "form"

    @override
    def handle_data(self, data: str) -> None:
        if self._textarea:
            # HTML: the line end right after the tag is not part of the text.
            known = self.values[self._textarea]
            self.values[self._textarea] = known + data if known else data.removeprefix("\n")


def read_form(answer: Any) -> dict[str, str]:
    """Return the fields of the page's own form with the values that it shows."""
    fields = _Fields()
    fields.feed(answer.content.decode())
    fields.values.pop("csrfmiddlewaretoken", None)
    return fields.values


def text_of(answer: Any) -> str:
    """Return the page with each run of white space as one space, and its texts not isolated."""
    return " ".join(ISOLATION.sub(r"\1", answer.content.decode()).split())


def main_of(answer: Any) -> str:
    """Return what the page itself says, without the tokens, which differ every time."""
    text = text_of(answer)
    return TOKEN.sub("", text[text.index("<main") : text.index("</main>")])
