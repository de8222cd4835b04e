"""The pages on which a person imports customers from a file: upload, preview, import."""

import logging
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from http import HTTPStatus
from typing import Any, NamedTuple
from uuid import UUID

from django import forms
from django.db import OperationalError
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override as override_language
from typing_extensions import override

from agent_access.translations import Text
from invoicing.access import IMPORT_PERMISSIONS
from invoicing.administration.acts import actor_of
from invoicing.administration.customer_imports import Progress, import_customers
from invoicing.customer_imports.columns import LABELS
from invoicing.customer_imports.planning import Outcome, Plan, PlannedRow
from invoicing.customer_imports.reading import (
    MAX_BYTES,
    MAX_ROWS,
    MEGABYTE,
    FileUnreadableError,
    Table,
    find_examples,
    read_table,
)
from invoicing.customer_imports.waiting import find_waiting, keep_file, plan_import
from invoicing.errors import ConflictError, PermissionMissingError, RecordNotFoundError
from invoicing.models import CustomerImport
from invoicing.web.listings import build_query, list_numbered
from invoicing.web.pages import SignedInRequest, page

logger = logging.getLogger(__name__)

NO_KEY_COLUMN = _("Choose the column of the customer number, or that of the name.")
NOTHING = _("Nothing was imported.")
NO_PROBLEM: Text = ""
OTHER_PLAN = _("The customers changed after you looked at the preview.")
NOT_ALLOWED = _("You are not allowed to import this file any more.")
GONE = _("This file does not wait any more: it was imported, given up or replaced meanwhile.")
BUSY = _("The database is busy. Perhaps somebody else imports customers; try again in a minute.")
FAILED = _("Something went wrong. The operator can find it in the log.")
WORDS = {
    Outcome.BAD: _("Left out"),
    Outcome.NEW: _("New"),
    Outcome.CHANGED: _("Changed"),
    Outcome.UNCHANGED: _("Unchanged"),
}
EXAMPLE_LENGTH = 60
# Where the page of a running import is cut to put the progress in, and the result.
_CUT = "<!-- cut -->"
_STEP = '<p><progress max="{}" value="{}" aria-label="{}"></progress> {}</p>\n'


class UploadForm(forms.Form):
    file = forms.FileField(
        label=_("File"), widget=forms.FileInput(attrs={"accept": ".csv,.txt,.tsv"})
    )


class ColumnsForm(forms.Form):
    """A choice of the field for each column of the file."""

    def __init__(self, table: Table, fields: Sequence[str], *args: Any) -> None:
        super().__init__(*args)
        columns = zip(table.headers, fields, find_examples(table), strict=True)
        for place, (header, field, example) in enumerate(columns):
            self.fields[f"column-{place}"] = forms.ChoiceField(
                label=header or gettext("Column %(number)s") % {"number": place + 1},
                choices=[("", _("Not imported")), *LABELS.items()],
                initial=field,
                required=False,
                help_text=example[:EXAMPLE_LENGTH],
            )

    @override
    def clean(self) -> None:
        chosen = [field for field in self.cleaned_data.values() if field]
        for field in LABELS:
            if chosen.count(field) > 1:
                raise forms.ValidationError(
                    gettext("More than one column is “%(field)s”.") % {"field": LABELS[field]}
                )
        if not {"name", "customer_number"} & set(chosen):
            raise forms.ValidationError(NO_KEY_COLUMN)


class ShownRow(NamedTuple):
    """A row of the preview: whom it is about; what is wrong; what changes, before and after."""

    line: int
    number: str
    name: str
    problems: Sequence[str]
    changes: Sequence[tuple[str, ...]]


@page(*IMPORT_PERMISSIONS, methods=("GET", "POST"))
def upload(request: SignedInRequest) -> HttpResponse:
    form = UploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        try:
            kept = keep_file(request.user, name=file.name, content=file.read())
        except FileUnreadableError as error:
            form.add_error("file", error.told())
        else:
            return redirect("customer-import", pk=kept.pk)
    context = {"form": form, "megabytes": MAX_BYTES // MEGABYTE, "rows": _count(MAX_ROWS)}
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.is_bound else HTTPStatus.OK
    return render(request, "invoicing/customer_import.html", context, status=status)


@page(*IMPORT_PERMISSIONS, methods=("GET", "POST"))
def preview(request: SignedInRequest, pk: UUID) -> Any:
    waiting = find_waiting(request.user, pk)
    if request.method != "POST":
        return _show_preview(request, waiting)
    if "give-up" in request.POST:
        deleted, _ = waiting.delete()
        if not deleted:  # somebody imported it, or gave it up, meanwhile
            raise RecordNotFoundError
        return redirect("import-customers")
    if "columns" in request.POST:
        return _choose_columns(request, waiting)
    return _run(request, waiting)


@page(*IMPORT_PERMISSIONS)
def list_problems(request: SignedInRequest, pk: UUID) -> HttpResponse:
    """Return a text of all rows that are left out; not CSV, since cells could be formulas."""
    plan = plan_import(request.user, find_waiting(request.user, pk))
    lines = [
        gettext("Line %(number)s: %(problem)s") % {"number": row.line, "problem": problem} + "\r\n"
        for row in plan.having(Outcome.BAD)
        for problem in row.problems
    ]
    headers = {"Content-Disposition": 'attachment; filename="customers-left-out.txt"'}
    return HttpResponse("".join(lines), content_type="text/plain; charset=utf-8", headers=headers)


def _choose_columns(request: SignedInRequest, waiting: CustomerImport) -> HttpResponse:
    form = ColumnsForm(read_table(bytes(waiting.content)), waiting.columns, request.POST)
    if not form.is_valid():
        return _show_preview(request, waiting, form)
    kept = CustomerImport.objects.filter(pk=waiting.pk)
    if not kept.update(columns=[*form.cleaned_data.values()]):
        raise RecordNotFoundError
    return redirect("customer-import", pk=waiting.pk)


def _show_preview(
    request: SignedInRequest, waiting: CustomerImport, form: ColumnsForm | None = None
) -> HttpResponse:
    table = read_table(bytes(waiting.content))
    form = form or ColumnsForm(table, waiting.columns)
    chosen = set(filter(None, waiting.columns))
    context = {
        "waiting": waiting,
        "form": form,
        "known": len(chosen),
        "columns": len(table.headers),
    }
    if form.errors or not chosen & {"name", "customer_number"}:
        context["is_unclear"] = True
    else:
        context |= _describe_plan(request, plan_import(request.user, waiting))
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK
    return render(request, "invoicing/customer_import_preview.html", context, status=status)


def _describe_plan(request: SignedInRequest, plan: Plan) -> Mapping[str, Any]:
    rows = {outcome: plan.having(outcome) for outcome in WORDS}
    asked = request.GET.get("show", "")
    shown = Outcome(asked) if asked in rows else next(each for each in rows if rows[each])
    writes = len(rows[Outcome.NEW]) + len(rows[Outcome.CHANGED])
    listing: Any = list_numbered(request, rows[shown], show=shown)
    return {
        "has_bad": bool(rows[Outcome.BAD]),
        "writes": writes,
        "writes_text": _count(writes),
        "filters": [
            (build_query(show=outcome), label, _count(len(rows[outcome])), outcome == shown)
            for outcome, label in WORDS.items()
        ],
        "shown": shown.value,
        "shown_label": WORDS[shown],
        "listing": listing,
        "rows": [_show_row(row) for row in listing.records],
        "seen": plan.digest(),
    }


def _show_row(row: PlannedRow) -> ShownRow:
    customer = row.customer
    return ShownRow(
        row.line,
        row.texts.get("customer_number") or customer.customer_number,
        row.texts.get("name") or customer.name,
        row.problems,
        [
            (str(LABELS[name]), "" if before is None else str(before), str(after))
            for name, (before, after) in row.changes.items()
        ],
    )


def _run(request: SignedInRequest, waiting: CustomerImport) -> StreamingHttpResponse:
    """Import while the page is sent: a browser that goes away takes everything back."""
    context = {"waiting": waiting, "cut": _CUT}
    running = render_to_string("invoicing/customer_import_running.html", context, request)
    steps = import_customers(actor_of(request), waiting.pk, seen=request.POST.get("seen", ""))
    # nginx would collect the answer, and read on after the browser has gone.
    headers = {"X-Accel-Buffering": "no"}
    parts = _stream(running, steps, waiting, language=get_language())
    return StreamingHttpResponse(parts, headers=headers)


def _show_step(step: Progress) -> str:
    told = gettext("%(done)s of %(total)s") % {
        "done": _count(step.done),
        "total": _count(step.total),
    }
    return format_html(_STEP, step.total, step.done, gettext("Imported"), told)


def _count(number: int) -> str:
    return number_format(number, force_grouping=True)


def _stream(
    running: str, steps: Generator[Progress], waiting: CustomerImport, *, language: str | None
) -> Iterator[str]:
    """Yield the page in the language of the request, which is over by the time that it is sent."""
    head, after_steps, foot = running.split(_CUT)
    yield head
    step, problem = Progress(0, 0), NO_PROBLEM
    try:
        with closing(steps):
            for step in steps:
                with override_language(language):
                    shown = _show_step(step)
                yield shown
    except ConflictError:
        problem = OTHER_PLAN
    except RecordNotFoundError:
        problem = GONE
    except PermissionMissingError:
        problem = NOT_ALLOWED
    except OperationalError:
        logger.warning("An import of customers found the database busy.", exc_info=True)
        problem = BUSY
    except Exception:
        logger.exception("An import of customers failed.")
        problem = FAILED
    yield after_steps
    result = {
        "problem": problem,
        # Of what somebody else may have imported it would not be true.
        "nothing": NO_PROBLEM if problem is GONE else NOTHING,
        "written": step.total,
        "waiting": waiting,
    }
    with override_language(language):
        shown = render_to_string("invoicing/customer_import_result.html", result)
    yield shown
    yield foot
