"""The page on which the owner, and nobody else, transfers the ownership."""

from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from invoicing.admin.confirming import NotConfirmedError, ask, confirm
from invoicing.admin.fields import PersonField
from invoicing.administration.acts import actor_of, count_connections
from invoicing.administration.ownership import UNFIT_OWNER, transfer_ownership
from invoicing.errors import OwnerUnfitError, PermissionMissingError, RecordNotFoundError
from invoicing.models import User
from invoicing.rights import is_owner


class TransferForm(forms.Form):
    """The new owner is chosen and then typed, against slips; the password proves who asks."""

    successor = PersonField(User.objects.none(), label=_("New owner"))
    email = forms.EmailField(
        label=_("Type the new owner's e-mail address"),
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, *args: Any, owner: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.owner = owner
        successor: Any = self.fields["successor"]
        successor.queryset = User.objects.listed().exclude(pk=owner.pk).order_by("name", "email")

    @override
    def clean(self) -> None:
        data = self.cleaned_data
        successor, typed = data.get("successor"), data.get("email", "")
        if successor and typed and User.objects.normalize_email(typed) != successor.email:
            self.add_error("email", gettext("This is not the address of the person chosen above."))


def transfer(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """Ask, then transfer the ownership; 404 for everybody but the owner."""
    owner: Any = request.user
    if not is_owner(owner):
        raise Http404
    context |= {"title": gettext("Transfer the ownership"), "connections": count_connections()}

    def show(form: TransferForm, *, status: int = 200) -> HttpResponse:
        values = {**context, "form": form, "confirmation": ask(request)}
        return render(request, "admin/invoices/transfer.html", values, status=status)

    if request.method != "POST":
        return show(TransferForm(owner=owner))
    form = TransferForm(request.POST, owner=owner)
    try:
        is_done = form.is_valid() and _transfer_to_chosen(request, form)
    except NotConfirmedError as refusal:
        return refusal.mark(show(form))
    if is_done:
        return redirect("home")
    return show(form, status=422)


def _transfer_to_chosen(request: HttpRequest, form: TransferForm) -> bool:
    confirm(request)
    try:
        transfer_ownership(actor_of(request), form.cleaned_data["successor"].pk)
    except (OwnerUnfitError, RecordNotFoundError):
        form.add_error("successor", UNFIT_OWNER)
    except PermissionMissingError:
        raise PermissionDenied from None
    return form.is_valid()
