"""The pages on which a person writes a draft."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.db import transaction
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone

from invoicing.access import WRITE_PERMISSIONS, Permission
from invoicing.draft_fields import MAX_LINES
from invoicing.errors import ConflictError, DraftCodeUsedError, DraftInvalidError
from invoicing.identifiers import read_uuid
from invoicing.locks import require_still_allowed
from invoicing.models import Document, User
from invoicing.paper.formats import local_date
from invoicing.services.corrections import is_correctable
from invoicing.services.draft_content import DraftContent
from invoicing.services.drafts import create_draft, preview_draft, update_draft
from invoicing.web.drafts.changes import compare_drafts
from invoicing.web.drafts.choices import Choices, choices_for
from invoicing.web.drafts.codes import give_code, read_code
from invoicing.web.drafts.customers import find_offered
from invoicing.web.drafts.draft_forms import DraftForms, ReadDraft
from invoicing.web.drafts.kept import kept_of
from invoicing.web.drafts.live import LIVE, answer_live
from invoicing.web.drafts.totals import show_totals_of
from invoicing.web.drafts.typed import (
    TypedDraft,
    copy_typed,
    new_typed_draft,
    propose_again,
    read_typed,
    typed_draft_of,
)
from invoicing.web.late_forms import RESUME
from invoicing.web.listings import read_search
from invoicing.web.pages import SignedInRequest, page, read_number, show_done


@page(*WRITE_PERMISSIONS, methods=("GET", "POST"), keeps_typed=True)
def new_draft(request: SignedInRequest) -> HttpResponse:
    return _answer(request)


@page(*WRITE_PERMISSIONS, methods=("GET", "POST"), keeps_typed=True)
def edit_draft(request: SignedInRequest, pk: UUID) -> HttpResponse:
    document = Document.objects.visible_to(request.user).find(pk)
    if request.method != "POST" and not document.is_draft_invoice:
        return redirect("document", pk=pk)
    return _answer(request, document)


def _answer(request: SignedInRequest, document: Document | None = None) -> HttpResponse:
    if request.method != "POST" and document is None and "copy" in request.GET:
        return _show_copy(request)
    typed = _read_or_begin(request, document)
    search = read_search(request.POST, "customer_search")
    choices = choices_for(request.user, document, typed, search=search)
    editor = Editor(request, choices, document)
    return editor.answer(typed) if request.method == "POST" else editor.show(typed)


def _read_or_begin(request: SignedInRequest, document: Document | None) -> TypedDraft:
    """Return what was typed, or the saved draft, or a new one: for a customer, if one is named."""
    if request.method == "POST":
        return read_typed(request.POST)
    if document:
        return typed_draft_of(document, document.lines.all())
    customer = find_offered(request.user, request.GET.get("customer", ""))
    return new_typed_draft(request.user, customer)


def _show_copy(request: SignedInRequest) -> HttpResponse:
    """Show the form of a new draft, filled in from an issued invoice; it saves nothing.

    The lists have what the invoice has even if it is inactive by now, and marked so.
    """
    pk = read_uuid(request.GET["copy"])
    original = Document.objects.visible_to(request.user).find(pk) if pk else None
    if original is None or not is_correctable(original):
        raise Http404
    typed = copy_typed(original, today=local_date(timezone.now(), request.user))
    choices = choices_for(request.user, original, typed, search="")
    return Editor(request, choices).show(typed, copied=original)


@dataclass(frozen=True)
class Editor:
    """Answers one request to write a draft: a new one, or `document`."""

    request: SignedInRequest
    choices: Choices
    document: Document | None = None

    @property
    def user(self) -> User:
        return self.request.user

    def answer(self, typed: TypedDraft) -> HttpResponse:
        """Do what the pressed button asks for: search, change the lines, resume, or check."""
        data, is_search = self.request.POST, _is_search(self.request.POST)
        if is_search:
            typed = typed.with_customer(self.choices.customers.suggested)
        # Not what is to be saved as it was seen, nor what is only shown again.
        if self.document is None and (is_search or not {"save", RESUME} & data.keys()):
            typed = propose_again(typed, self.user)
        if LIVE in data:
            return answer_live(self.user, DraftForms(typed, self.choices, is_checked=True), data)
        if (changed := _change_lines(typed, data)) is not None:
            return self.show(changed)
        if is_search or RESUME in data:
            return self.show(typed, has_searched=is_search)
        typed = typed.without_blank_lines()
        return self._check(DraftForms(typed, self.choices, is_checked=True))

    def show(self, typed: TypedDraft, **context: Any) -> HttpResponse:
        return self._render(DraftForms(typed, self.choices), **context)

    def _check(self, forms: DraftForms) -> HttpResponse:
        """Calculate or save a valid draft, or show all mistakes."""
        try:
            if draft := forms.read():
                return self._carry_out(forms, draft)
        except DraftInvalidError as error:
            forms.add_problems(error.problems)
        return self._render(forms, status=HTTPStatus.UNPROCESSABLE_ENTITY)

    def _carry_out(self, forms: DraftForms, draft: ReadDraft) -> HttpResponse:
        if "calculate" in self.request.POST:
            return self._render(forms, preview=preview_draft(self.user, *draft))
        if self.document is None:
            return self._create(forms, draft)
        pk, lock_version = self.document.pk, self._read_lock_version()
        try:
            with transaction.atomic():
                update_draft(self.user, pk, *draft, lock_version=lock_version)
                self._require_still_allowed(pk)
        except ConflictError:
            return self._render(
                forms,
                status=HTTPStatus.CONFLICT,
                saved=Document.objects.visible_to(self.user).find(pk),
                preview=preview_draft(self.user, *draft),
            )
        return show_done(pk)

    def _create(self, forms: DraftForms, draft: ReadDraft) -> HttpResponse:
        code = read_code(self.user, self.request.POST.get("draft_code", ""))
        try:
            with transaction.atomic():
                made = create_draft(self.user, *draft, draft_code=code).document
                self._require_still_allowed(made.pk)
        except DraftCodeUsedError:
            own = Document.objects.visible_to(self.user).filter(
                draft_code=code, created_by=self.user
            )
            return self._answer_again(own.first(), forms, draft)
        return show_done(made.pk)

    def _require_still_allowed(self, pk: UUID) -> None:
        """Refuse what was written if the right to do so was lost during a wait for a lock."""
        require_still_allowed(self.user, pk, *WRITE_PERMISSIONS)

    def _answer_again(
        self, made: Document | None, forms: DraftForms, draft: ReadDraft
    ) -> HttpResponse:
        """Redirect to the draft that this form made before, or show the form if the two differ."""
        preview = preview_draft(self.user, *draft)
        typed = typed_draft_of(preview.document, preview.lines)
        if made and typed_draft_of(made, made.lines.all()) == typed:
            return show_done(made.pk)
        return self._render(
            forms, status=HTTPStatus.CONFLICT, preview=preview, is_sent_again=True, made_before=made
        )

    def _render(
        self,
        forms: DraftForms,
        *,
        status: HTTPStatus = HTTPStatus.OK,
        preview: DraftContent | None = None,
        saved: Document | None = None,
        **context: Any,
    ) -> HttpResponse:
        saved = saved or self._find_saved_meanwhile()
        typed = forms.typed
        if preview:
            typed = typed_draft_of(preview.document, preview.lines)
            forms.show_readings(preview)
        kept = typed_draft_of(saved, saved.lines.all()) if saved else typed
        draft_code = self._draft_code_to_send(status)
        context |= {
            "document": self.document,
            "draft_code": draft_code,
            "kept": kept_of(self.user, self._name_draft(draft_code)),
            "customers": self.choices.customers,
            "tax_currency": self.choices.tax_currency,
            "lock_version": self._lock_version_to_send(),
            "forms": forms,
            "most_lines": MAX_LINES,
            "finds_customers": self.user.has_perm(Permission.VIEW_CUSTOMER),
            "is_refused": status == HTTPStatus.UNPROCESSABLE_ENTITY,
            # What was saved meanwhile stands beside what was typed, so that nothing is lost.
            "saved": saved,
            "changes": compare_drafts(kept, typed, self.choices),
            "totals": show_totals_of(preview) if preview else None,
        }
        return render(self.request, "invoicing/draft.html", context, status=status)

    def _find_saved_meanwhile(self) -> Document | None:
        """Return the document if it is not any more what the form began with."""
        document = self.document
        is_outdated = document and document.lock_version != self._lock_version_to_send()
        return document if is_outdated else None

    def _draft_code_to_send(self, status: HTTPStatus) -> str:
        """Return the draft code as it was sent, or a new one if it was used or is invalid."""
        sent = self.request.POST.get("draft_code", "")
        is_good = status != HTTPStatus.CONFLICT and read_code(self.user, sent) is not None
        return sent if is_good else give_code(self.user)

    def _name_draft(self, signed_code: str) -> str:
        """Return the draft code, which a new draft has before it is saved."""
        return self.document.draft_code if self.document else signed_code.partition(":")[0]

    def _lock_version_to_send(self) -> int:
        """Return the version that the form began with."""
        if self.request.method == "POST":
            return read_number(self.request.POST, "lock_version")
        return self.document.lock_version if self.document else 0

    def _read_lock_version(self) -> int:
        """Return the version to replace: the form's, or after a conflict that of the button.

        Nothing but that button replaces what somebody else has saved, whatever else is pressed.
        """
        data = self.request.POST
        return read_number(data, "save") or read_number(data, "lock_version")


def _change_lines(typed: TypedDraft, data: QueryDict) -> TypedDraft | None:
    """Return the draft as a button beside the lines changes it, or None if none was pressed."""
    if "add_line" in data:
        return typed.with_line()
    if "copy_line" in data:
        return typed.with_copy(read_number(data, "copy_line"))
    if "raise_line" in data:
        return typed.with_moved(read_number(data, "raise_line"), step=-1)
    if "lower_line" in data:
        return typed.with_moved(read_number(data, "lower_line"), step=1)
    if "remove_line" in data:
        return typed.without_line(read_number(data, "remove_line"))
    return None


def _is_search(data: QueryDict) -> bool:
    """Return whether to search for a customer: by its button, or by Enter in the search field."""
    asked, done = (read_search(data, f"customer_{word}") for word in ("search", "searched"))
    return "find_customer" in data or asked != done
