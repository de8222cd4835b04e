"""What the owner decides on the consent page, and what others ask the owner for."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.http import QueryDict
from django.utils.translation import gettext as _
from typing_extensions import override
from uuid_utils.compat import uuid7

from agent_access.connections import MAX_DAYS, MIN_DAYS, Consent
from agent_access.forms import ConnectionTermsForm, TermsForm, days_field
from agent_access.oauth.authorization import AuthorizationRequest
from agent_access.oauth.models import AccessRequest

SALT = "agent_access.oauth.consent"


class ConsentForm(ConnectionTermsForm):
    """Answers the request that it was opened for and no other: that is part of its salt."""

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        approver: Any,
        authorization: AuthorizationRequest,
    ) -> None:
        salt = f"{SALT} {authorization.uri}"
        super().__init__(data, approver=approver, scopes=authorization.scopes, salt=salt)
        self.authorization = authorization
        self.fields["scopes"].error_messages["required"] = _("Choose at least one, or refuse.")
        self.fields["once"].required = False

    @override
    def clean_once(self) -> UUID:
        """Return a new ID if none was sent; such a form, sent again, is another consent."""
        return super().clean_once() if self.cleaned_data["once"] else uuid7()

    def read_consent(self) -> Consent:
        """Return what a valid form allows; the validator makes the connection of it."""
        client = self.authorization.client
        return Consent(
            name=client.name,
            client_id=client.client_id,
            client_host=self.authorization.client_host,
            **self.read_terms(),
        )


class AskForm(TermsForm):
    """What a person asks the owner for."""

    def __init__(self, data: QueryDict | None = None, *, scopes: Sequence[str]) -> None:
        super().__init__(data, scopes=scopes)
        told = _("{least} to {most}. The owner may allow fewer.")
        self.fields["expires_in_days"].help_text = told.format(least=MIN_DAYS, most=MAX_DAYS)


class AnswerForm(TermsForm):
    """What the owner allows of what a person asks: all of it, or less."""

    def __init__(self, data: QueryDict | None = None, *, asked: AccessRequest) -> None:
        super().__init__(data, scopes=asked.scopes)
        self.fields["scopes"].error_messages["required"] = _("Choose at least one, or refuse.")
        self.fields["expires_in_days"] = days_field(asked.days)
