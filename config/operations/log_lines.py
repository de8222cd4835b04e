"""How a log record is written: a line to read, or a line of JSON to collect."""

import json
import logging
import os
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import TextIO

from typing_extensions import override

from agent_access.request_facts import current_facts
from config.operations.spans import current_span_ids
from config.operations.traces import format_trace, redact_secrets

# The key of logging's `extra` under which a record carries further fields, as a mapping.
FACTS = "facts"
TEXT = "{asctime} {levelname} {name} [{request_id}] {message}"
# The loggers of Django's SuspiciousOperation and its kinds.
REFUSALS = "django.security."
FORGED_FORMS = "django.security.csrf"
REFUSED = "A request was refused."
# Of which logger, and the class of the error.
UNWRITTEN = "A line of %s could not be written (%s)."


class RefusedRequests(logging.Filter):
    """Turns what Django itself refused (too long, too many fields) into warnings of one line.

    Anybody can send that, so it is no error of ours, and its trace would only fill the log. The
    logger's name says what it was. The messages hold what was sent, so that only the reason and the
    path of a forged form are kept.
    """

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith(REFUSALS):
            record.levelno, record.levelname = logging.WARNING, "WARNING"
            record.exc_info = None
            _leave_out_what_was_sent(record)
        return True


def _leave_out_what_was_sent(record: logging.LogRecord) -> None:
    if record.name == FORGED_FORMS and isinstance(record.args, tuple):
        reason, *rest = record.args
        record.args = (str(reason).partition(" - ")[0], *rest)
    else:
        record.msg, record.args = REFUSED, ()


class StandardError(logging.StreamHandler[TextIO]):
    """Writes lines to standard error, and where one cannot be written, only that it cannot.

    logging itself would write the record as it is, and every error behind it, with the rows and
    secrets that they quote.
    """

    @override
    def handleError(self, record: logging.LogRecord) -> None:
        # What failed once may fail again: then the line is lost, and nobody's request with it.
        with suppress(Exception):
            error = sys.exc_info()[1]
            said = UNWRITTEN % (record.name, type(error).__name__)
            told = {"name": __name__, "levelno": logging.ERROR, "levelname": "ERROR", "msg": said}
            self.stream.write(self.format(logging.makeLogRecord(told)) + self.terminator)
            self.flush()


def server_lines() -> logging.Formatter:
    """Return the formatter of what the server itself says, which loads no settings of Django."""
    return JsonLines() if is_json() else TextLines(TEXT, style="{")


def is_json() -> bool:
    """Tell which LOG_FORMAT the environment names; a wrong one is told elsewhere."""
    return os.environ.get("LOG_FORMAT") == "json"


class TextLines(logging.Formatter):
    """One line, in UTC, then the trace if there is one."""

    converter = staticmethod(time.gmtime)

    @override
    def format(self, record: logging.LogRecord) -> str:
        # Whatever somebody sent must not begin a line of its own or move a terminal's cursor.
        record.message = _escape(redact_secrets(record.getMessage()))
        record.asctime = self.formatTime(record)
        record.request_id = current_facts().request_id
        # Never record.exc_text, where another formatter may have left the trace with secrets.
        trace = map(_escape, _trace(record).split("\n"))
        return "\n".join(filter(None, [self.formatMessage(record), *trace]))


class JsonLines(logging.Formatter):
    """One JSON object; a key is absent where there is nothing to say."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        facts = current_facts()
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": redact_secrets(record.getMessage()),
            "request_id": facts.request_id,
            "connection_id": str(facts.connection_id or ""),
            **current_span_ids(),
            **getattr(record, FACTS, {}),
            "trace": _trace(record),
        }
        # ASCII only: a lone surrogate from a hostile path could not be written otherwise.
        return json.dumps({key: value for key, value in line.items() if value not in (None, "")})


def _escape(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in line
    )


def _trace(record: logging.LogRecord) -> str:
    error = record.exc_info[1] if record.exc_info else None
    return format_trace(error) if error else ""
