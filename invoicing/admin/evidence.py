"""The page on which the owner, and nobody else, takes a package of evidence out."""

from functools import partial
from http import HTTPStatus
from tempfile import TemporaryFile
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone

from agent_access.evidence.package import VERIFIER, write_package
from invoicing.administration.acts import actor_of
from invoicing.administration.exports import TooManyExportsError, begin_export
from invoicing.errors import PermissionMissingError
from invoicing.exports.cells import CHUNK_LENGTH, Chunks
from invoicing.models import User
from invoicing.rights import is_owner
from invoicing.web.accounts.devices import find_device
from invoicing.web.accounts.limits import AttemptRefusedError, answer_refused, count_attempt
from invoicing.web.accounts.password_forms import check_own_password, password_field

BUSY = "As many exports as can be are being downloaded just now. Try again in a few minutes."


class EvidenceForm(forms.Form):
    """The password proves who asks: a package holds all that was ever approved."""

    password = password_field("Your own password", is_new=False)

    def __init__(self, *args: Any, owner: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.owner = owner

    def clean_password(self) -> str:
        return check_own_password(self.owner, self.cleaned_data["password"])


def export_evidence(request: HttpRequest, context: dict[str, Any]) -> HttpResponseBase:
    """Ask for the password, then answer with the package; 404 for everybody but the owner."""
    owner = _require_owner(request)

    def show(form: EvidenceForm, *, status: int = HTTPStatus.OK, **more: Any) -> HttpResponse:
        values = {**context, "title": "Evidence", "form": form, **more}
        return render(request, "admin/invoices/evidence.html", values, status=status)

    if request.method != "POST":
        return show(EvidenceForm(owner=owner))
    try:
        count_attempt(account=owner.email, device=find_device(request, owner.email))
    except AttemptRefusedError as refusal:
        return answer_refused(refusal, partial(show, EvidenceForm(owner=owner)))
    form = EvidenceForm(request.POST, owner=owner)
    if not form.is_valid():
        return show(form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        return _download(request)
    except TooManyExportsError:
        form.add_error(None, BUSY)
        return show(form, status=HTTPStatus.SERVICE_UNAVAILABLE)
    except PermissionMissingError:
        raise PermissionDenied from None


def download_verifier(request: HttpRequest) -> HttpResponseBase:
    """Answer with the program that verifies a package; 404 for everybody but the owner."""
    _require_owner(request)
    return FileResponse(
        VERIFIER.open("rb"),
        as_attachment=True,
        filename=VERIFIER.name,
        content_type="text/x-python",
    )


def _require_owner(request: HttpRequest) -> User:
    owner: Any = request.user
    if not is_owner(owner):
        raise Http404
    found: User = owner
    return found


def _download(request: HttpRequest) -> StreamingHttpResponse:
    """Return the package; raises TooManyExportsError and PermissionMissingError."""
    name = f"evidence_{timezone.now():%Y-%m-%d_%H%M}.zip"
    chunks = begin_export(
        _read_package(),
        actor=actor_of(request),
        kind="evidence",
        begun="all of it",
        is_allowed=is_owner,
    )
    return StreamingHttpResponse(
        chunks,
        content_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _read_package() -> Chunks:
    """Yield a package that is complete: the moment of which it is ends before anything leaves.

    Whoever takes it slowly would else keep the database from tidying up.
    """
    with TemporaryFile() as file:  # which nobody else can open
        for chunk in write_package(made_at=timezone.now()):
            file.write(chunk)
        file.seek(0)
        yield from iter(partial(file.read, CHUNK_LENGTH), b"")
