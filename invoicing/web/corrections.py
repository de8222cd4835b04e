"""The pages on which a person corrects an issued invoice, and changes the draft of a correction."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django import forms
from django.db import transaction
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from pydantic import ValidationError
from typing_extensions import override

from agent_access.fields import find_problems
from invoicing.access import ISSUE_PERMISSIONS
from invoicing.draft_fields import CorrectionInput
from invoicing.errors import ConflictError, DraftCodeUsedError, DraftInvalidError, FieldProblem
from invoicing.fixed_point import DECIMALS, format_fixed_point
from invoicing.languages import page_language
from invoicing.locks import require_still_allowed
from invoicing.models import Document, Line, User
from invoicing.paper.formats import Formats, format_day, local_date
from invoicing.services.corrections import (
    corrected_by,
    create_correction,
    is_correctable,
    is_draft_correction,
    read_balance,
    update_correction,
)
from invoicing.web.drafts.codes import give_code, read_code
from invoicing.web.drafts.forms import NUMBER_LENGTH, HeaderForm, LineForm
from invoicing.web.drafts.problems import as_sentence
from invoicing.web.late_forms import RESUME
from invoicing.web.pages import ALREADY, SignedInRequest, page, read_number, show_done
from invoicing.web.typed_numbers import MistypedNumberError, avoid_grouping, parse_typed

QUANTITY = "quantity-"


@page(*ISSUE_PERMISSIONS, methods=("GET", "POST"), keeps_typed=True)
def correct(request: SignedInRequest, pk: UUID) -> HttpResponse:
    original = Document.objects.visible_to(request.user).find(pk)
    if not is_correctable(original):
        return redirect("document", pk=pk)
    return CorrectionEditor(request, original).answer()


@page(*ISSUE_PERMISSIONS, methods=("GET", "POST"), keeps_typed=True)
def change_correction(request: SignedInRequest, pk: UUID) -> HttpResponse:
    draft = Document.objects.visible_to(request.user).find(pk)
    if not is_draft_correction(draft):
        already = f"?{ALREADY}" if request.method == "POST" else ""
        return redirect(f"{reverse('document', args=[pk])}{already}")
    return CorrectionEditor(request, corrected_by(draft), draft).answer()


def describe_corrections(user: User, document: Document) -> dict[str, Any]:
    """Return what the page of a document says of its credit notes and of what they leave."""
    if not is_correctable(document):
        return {"may_change": is_draft_correction(document) and user.has_perms(ISSUE_PERMISSIONS)}
    formats = Formats(page_language(), document.currency_code, document.minor_unit)
    notes = Document.objects.visible_to(user).filter(corrects=document).order_by("pk")
    left = read_balance(document).left
    return {
        "corrections": [
            (each, format_day(each.issue_date), formats.money(each.grand_total)) for each in notes
        ],
        "left": formats.money(left.grand_total),
        "may_correct": user.has_perms(ISSUE_PERMISSIONS)
        and any(part.quantity for part in left.lines.values()),
    }


class CorrectionForm(forms.Form):
    """How much of each line is taken back, when and why; the fields of lines end in their IDs."""

    # As in the form of a draft.
    issue_date = HeaderForm.base_fields["issue_date"]
    correction_reason = forms.CharField(
        label=_("Reason, for the customer"),
        widget=forms.TextInput(attrs={"dir": "auto"}),
        error_messages={
            "required": _("Write why the invoice is corrected: the credit note says it.")
        },
    )

    def __init__(self, *args: Any, lines: dict[UUID, Line], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._names = {f"{QUANTITY}{pk}": pk for pk in lines}
        for name in self._names:
            self.fields[name] = forms.CharField(
                label=gettext("Quantity to credit"),
                required=False,
                max_length=NUMBER_LENGTH,
                widget=LineForm.base_fields["quantity"].widget,
            )

    @override
    def clean(self) -> None:
        for name in self._names:
            try:
                text = self.cleaned_data.get(name, "").strip() or "0"
                self.cleaned_data[name] = parse_typed(text, decimals=DECIMALS)
            except MistypedNumberError as mistake:
                self.add_error(name, mistake)

    def read(self) -> CorrectionInput | None:
        """Return the correction, or None and mark all mistakes."""
        self.full_clean()
        quantities = {
            pk: quantity
            for name, pk in self._names.items()
            if (quantity := self.cleaned_data.get(name))
        }
        if not quantities and not self.errors.keys() & self._names.keys():
            self.add_error(
                None, gettext("Nothing is credited: write a quantity in at least one line.")
            )
        if self.errors:
            return None
        asked = {
            "issue_date": self.cleaned_data["issue_date"].isoformat(),
            "correction_reason": self.cleaned_data["correction_reason"],
            "quantities": quantities,
        }
        try:
            return CorrectionInput.model_validate(asked)
        except ValidationError as error:
            self.add_problems(problem for problem, _ in find_problems(error))
        return None

    def add_problems(self, problems: Iterable[FieldProblem]) -> None:
        """Mark each problem at its field; those of lines are named by the line's ID."""
        for problem in problems:
            name = problem.field if problem.field in self.fields else f"{QUANTITY}{problem.field}"
            self.add_error(name, as_sentence(problem))


@dataclass(frozen=True)
class CorrectionEditor:
    """Answers one request to correct an invoice: in a new draft, or by changing `draft`."""

    request: SignedInRequest
    original: Document
    draft: Document | None = None

    def answer(self) -> HttpResponse:
        data = self.request.POST
        if self.request.method != "POST":
            return self._render(self._form(initial=self._initial()))
        if RESUME in data:
            return self._render(self._form(initial=data.dict()))
        form = self._form(data)
        try:
            if asked := form.read():
                return self._save(form, asked)
        except DraftInvalidError as error:
            form.add_problems(error.problems)
        return self._render(form, status=HTTPStatus.UNPROCESSABLE_ENTITY)

    def _form(self, data: QueryDict | None = None, **kwargs: Any) -> CorrectionForm:
        lines = {line.pk: line for line in self.original.lines.all()}
        return CorrectionForm(data, lines=lines, **kwargs)

    def _initial(self) -> dict[str, str | date]:
        """Return what the draft says already, or all that is left, today."""
        if self.draft:
            day = self.draft.issue_date
            quantities = _quantities_of(self.draft)
        else:
            day = local_date(timezone.now(), self.request.user)
            left = read_balance(self.original).left.lines
            quantities = {pk: part.quantity for pk, part in left.items()}
        typed = {
            f"{QUANTITY}{pk}": avoid_grouping(format_fixed_point(quantity), decimals=DECIMALS)
            for pk, quantity in quantities.items()
            if quantity
        }
        reason = self.draft.correction_reason if self.draft else ""
        return {"issue_date": day, "correction_reason": reason, **typed}

    def _save(self, form: CorrectionForm, asked: CorrectionInput) -> HttpResponse:
        if self.draft is None:
            return self._create(form, asked)
        pk, lock_version = self.draft.pk, read_number(self.request.POST, "lock_version")
        try:
            with transaction.atomic():
                update_correction(self.request.user, pk, asked, lock_version=lock_version)
                require_still_allowed(self.request.user, pk, *ISSUE_PERMISSIONS)
        except ConflictError:
            saved = Document.objects.visible_to(self.request.user).find(pk)
            if saved.is_issued:
                return redirect(f"{reverse('document', args=[pk])}?{ALREADY}")
            return self._render(form, status=HTTPStatus.CONFLICT, saved=saved)
        return show_done(pk)

    def _create(self, form: CorrectionForm, asked: CorrectionInput) -> HttpResponse:
        user = self.request.user
        code = read_code(user, self.request.POST.get("draft_code", ""))
        try:
            with transaction.atomic():
                made = create_correction(user, self.original.pk, asked, draft_code=code)
                require_still_allowed(user, made.pk, *ISSUE_PERMISSIONS)
        except DraftCodeUsedError:
            before = Document.objects.visible_to(user).filter(draft_code=code, created_by=user)
            return self._answer_again(form, asked, before.first())
        return show_done(made.pk)

    def _answer_again(
        self, form: CorrectionForm, asked: CorrectionInput, made: Document | None
    ) -> HttpResponse:
        """Redirect to the draft that this form made before, or show the form if the two differ."""
        if made and made.corrects_id == self.original.pk and _asked_for(made) == asked:
            return show_done(made.pk)
        return self._render(form, status=HTTPStatus.CONFLICT, is_sent_again=True, made_before=made)

    def _render(
        self,
        form: CorrectionForm,
        *,
        status: HTTPStatus = HTTPStatus.OK,
        saved: Document | None = None,
        **context: Any,
    ) -> HttpResponse:
        sent = self.request.POST.get("draft_code", "")
        is_code_kept = status != HTTPStatus.CONFLICT and read_code(self.request.user, sent)
        current = saved or self.draft
        context |= {
            "form": form,
            "original": self.original,
            "draft": self.draft,
            "saved": saved,
            "lines": list(self._describe_lines(form)),
            "draft_code": sent if is_code_kept else give_code(self.request.user),
            "lock_version": self._lock_version_to_send(current, saved),
            "is_refused": status == HTTPStatus.UNPROCESSABLE_ENTITY,
        }
        return render(self.request, "invoicing/correction.html", context, status=status)

    def _lock_version_to_send(self, current: Document | None, saved: Document | None) -> int:
        """Return the version that the form began with, or after a conflict the one saved now."""
        if self.request.method == "POST" and saved is None:
            return read_number(self.request.POST, "lock_version")
        return current.lock_version if current else 0

    def _describe_lines(self, form: CorrectionForm) -> Iterator[dict[str, Any]]:
        original = self.original
        formats = Formats(page_language(), original.currency_code, original.minor_unit)
        left = read_balance(original).left.lines
        for line in original.lines.all():
            yield {
                "description": line.description,
                "unit_price": formats.money(line.unit_price),
                "quantity": formats.quantity(line.quantity),
                "left": formats.quantity(format_fixed_point(left[line.pk].quantity)),
                "net_left": formats.money(left[line.pk].net_amount),
                "field": form[f"{QUANTITY}{line.pk}"],
            }


def _quantities_of(draft: Document) -> dict[UUID | None, int]:
    return {line.corrects_id: line.quantity_ten_thousandths for line in draft.lines.all()}


def _asked_for(draft: Document) -> CorrectionInput:
    """Return the correction as which a draft was saved."""
    return CorrectionInput.model_validate(
        {
            "issue_date": draft.issue_date.isoformat(),
            "correction_reason": draft.correction_reason,
            "quantities": _quantities_of(draft),
        }
    )
