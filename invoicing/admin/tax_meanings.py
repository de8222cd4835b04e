"""The page that asks what rates of unknown category mean, and what a line without a rate does."""

from collections.abc import Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from invoicing.admin.meaning_forms import RateMeaningForm, RecordMeaningForm, UntaxedForm
from invoicing.administration.acts import actor_of
from invoicing.administration.records import IsAllowed, change_record
from invoicing.errors import ConflictError
from invoicing.identifiers import read_uuid
from invoicing.models import Company, TaxRate, User
from invoicing.rights import may_administer
from invoicing.web.pages import refused_as_pages

SAVED = _("What taxes mean was saved.")
CHANGED_MEANWHILE = _(
    "Somebody else changed this since you opened it; nothing of yours was saved. This is the"
    " current state."
)
ORDER = ("-percentage_ten_thousandths", "name", "pk")

MAY_CHANGE: Mapping[Any, IsAllowed] = {
    TaxRate: partial(may_administer, permission="invoices.change_taxrate"),
    Company: partial(may_administer, permission="invoices.change_company"),
}


def may_say_meanings(user: User) -> bool:
    """Return whether the page shows anything to the user."""
    return any(is_allowed(user) for is_allowed in MAY_CHANGE.values())


def unknown_rates() -> QuerySet[TaxRate]:
    """Return the rates whose meaning nobody has told yet."""
    return TaxRate.objects.filter(category="", is_active=True).order_by(*ORDER)


@refused_as_pages()
def ask_meanings(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """Ask for all at once, and save all that was said, or nothing; 403 without permission."""
    user: Any = request.user
    if not may_say_meanings(user):
        raise PermissionDenied
    if request.method != "POST":
        return _show(request, context, _forms(user))
    try:
        forms = _sent_forms(user, request.POST)
        if not all([form.is_valid() for form in forms]):  # noqa: C419  each shall show its mistakes
            return _show(request, context, forms, status=HTTPStatus.UNPROCESSABLE_ENTITY)
        _save(request, forms)
    except ConflictError:
        told = context | {"conflict": CHANGED_MEANWHILE}
        return _show(request, told, _forms(user), status=HTTPStatus.CONFLICT)
    messages.success(request, SAVED)
    return redirect("admin:tax-meanings")


def _show(
    request: HttpRequest,
    context: dict[str, Any],
    forms: Sequence[RecordMeaningForm],
    *,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    errors = any(form.is_bound and form.errors for form in forms)
    told = {"title": gettext("What taxes mean"), "forms": forms, "errors": errors}
    return render(request, "admin/invoices/tax_meanings.html", context | told, status=status)


def _forms(user: User) -> list[RecordMeaningForm]:
    """Return a form for each rate of unknown meaning, and one for lines without a rate."""
    return _forms_of(user, [*unknown_rates(), *Company.objects.all()])


def _sent_forms(user: User, sent: QueryDict) -> list[RecordMeaningForm]:
    """Return the forms as they were sent; raises ConflictError if one shows what is no more."""
    shown = [read_uuid(name.removesuffix("-seen")) for name in sent if name.endswith("-seen")]
    rates = TaxRate.objects.filter(is_active=True, pk__in=filter(None, shown))
    records = [*rates.order_by(*ORDER), *Company.objects.filter(pk__in=filter(None, shown))]
    if len(records) != len(shown):
        raise ConflictError
    forms = _forms_of(user, records, sent)
    if any(form.is_outdated() for form in forms):
        raise ConflictError
    return forms


def _forms_of(user: User, records: Sequence[Any], *sent: QueryDict) -> list[RecordMeaningForm]:
    kinds = {TaxRate: RateMeaningForm, Company: UntaxedForm}
    mine = [each for each in records if MAY_CHANGE[type(each)](user)]
    return [kinds[type(each)](*sent, record=each) for each in mine]


@transaction.atomic
def _save(request: HttpRequest, forms: Sequence[RecordMeaningForm]) -> None:
    for form in forms:
        if form.chosen():
            _save_one(request, form)


def _save_one(request: HttpRequest, form: RecordMeaningForm) -> None:
    model = type(form.record)
    change_record(
        actor_of(request),
        lambda _: model.objects.all(),
        form.record.pk,
        form.changes(),
        seen=form.cleaned_data["seen"],
        is_allowed=MAY_CHANGE[model],
    )
