"""Pages of the administration that ask for the passkey or the password again, in the same form."""

from functools import partial
from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from agent_access.confirming import NotConfirmedError, ask, check, confirm, record_refusal
from invoicing.admin.records import RecordAdmin
from invoicing.services.record_changes import find_changed

__all__ = ["ConfirmedRecordAdmin", "NotConfirmedError", "ask", "confirm"]

CONFIRM_BELOW = _("Please confirm this change at the end of the page.")


class ConfirmedRecordAdmin(RecordAdmin):
    """Asks once a sensitive field of a record changes, or is filled in a new one.

    The form shows it only then: what nobody needs to confirm is saved as everywhere.
    """

    def find_sensitive(self, *, is_new: bool) -> frozenset[str]:
        """Return the names of the fields that need a confirmation."""
        raise NotImplementedError

    def needs_confirmation(self, obj: Any, form: Any, *, change: bool) -> bool:
        """Return whether the valid form changes what is sensitive."""
        names = self.find_sensitive(is_new=not change)
        said = {name: each for name, each in form.changes().items() if name in names}
        if not change:
            return any(said.values())
        return bool(find_changed(self.model._default_manager.get(pk=obj.pk), said))  # noqa: SLF001  Django's public name for a model's manager

    @override
    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if self.needs_confirmation(obj, form, change=change):
            check(request)
        super().save_model(request, obj, form, change)

    @override
    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """Show the form again if it was not confirmed, with what was typed and what it lacks."""
        show = partial(super().changeform_view, request, object_id, form_url)
        try:
            return show(extra_context)
        except NotConfirmedError as refusal:
            record_refusal(request, refusal)
            request.refusal = ValidationError(CONFIRM_BELOW)  # type: ignore[attr-defined]  # read by get_form
            return refusal.mark(show({**(extra_context or {}), "confirmation": ask(request)}))
