"""The page on which the owner, and nobody else, transfers the ownership."""

from functools import partial
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from typing_extensions import override

from invoicing.admin.fields import PersonField
from invoicing.administration.acts import actor_of, count_connections
from invoicing.administration.ownership import UNFIT_OWNER, transfer_ownership
from invoicing.errors import OwnerUnfitError, PermissionMissingError, RecordNotFoundError
from invoicing.models import User
from invoicing.rights import is_owner
from invoicing.web.accounts.devices import find_device
from invoicing.web.accounts.limits import AttemptRefusedError, answer_refused, count_attempt
from invoicing.web.accounts.password_forms import check_own_password, password_field


class TransferForm(forms.Form):
    """The new owner is chosen and then typed, against slips; the password proves who asks."""

    successor = PersonField(User.objects.none(), label="New owner")
    email = forms.EmailField(
        label="Type the new owner's e-mail address",
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )
    password = password_field("Your own password", is_new=False)

    def __init__(self, *args: Any, owner: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.owner = owner
        successor: Any = self.fields["successor"]
        successor.queryset = User.objects.listed().exclude(pk=owner.pk).order_by("name", "email")

    def clean_password(self) -> str:
        return check_own_password(self.owner, self.cleaned_data["password"])

    @override
    def clean(self) -> None:
        data = self.cleaned_data
        successor, typed = data.get("successor"), data.get("email", "")
        if successor and typed and User.objects.normalize_email(typed) != successor.email:
            self.add_error("email", "This is not the address of the person chosen above.")


def transfer(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """Ask, then transfer the ownership; 404 for everybody but the owner."""
    owner: Any = request.user
    if not is_owner(owner):
        raise Http404
    context |= {"title": "Transfer the ownership", "connections": count_connections()}

    def show(form: TransferForm, *, status: int = 200, **more: Any) -> HttpResponse:
        values = {**context, "form": form, **more}
        return render(request, "admin/invoices/transfer.html", values, status=status)

    if request.method != "POST":
        return show(TransferForm(owner=owner))
    try:
        count_attempt(account=owner.email, device=find_device(request, owner.email))
    except AttemptRefusedError as refusal:
        return answer_refused(refusal, partial(show, TransferForm(owner=owner)))
    form = TransferForm(request.POST, owner=owner)
    if form.is_valid() and _transfer_to_chosen(request, form):
        return redirect("home")
    return show(form, status=422)


def _transfer_to_chosen(request: HttpRequest, form: TransferForm) -> bool:
    try:
        transfer_ownership(actor_of(request), form.cleaned_data["successor"].pk)
    except (OwnerUnfitError, RecordNotFoundError):
        form.add_error("successor", UNFIT_OWNER)
    except PermissionMissingError:
        raise PermissionDenied from None
    return form.is_valid()
