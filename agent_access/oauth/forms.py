"""What the owner decides on the consent page."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import QueryDict
from typing_extensions import override
from uuid_utils.compat import uuid7

from agent_access.connections import ConnectingClient, ConnectionRequest
from agent_access.forms import ConnectionTermsForm
from agent_access.oauth.authorization import AuthorizationRequest

SALT = "agent_access.oauth.consent"


@dataclass(frozen=True)
class Consent:
    """What the owner allowed; the validator makes the connection from it, along with the code."""

    request: ConnectionRequest
    client: ConnectingClient
    connection_id: UUID
    owner: Any


class ConsentForm(ConnectionTermsForm):
    """Answers the request that it was opened for and no other: that is part of its salt."""

    def __init__(
        self, data: QueryDict | None = None, *, authorization: AuthorizationRequest
    ) -> None:
        super().__init__(data, scopes=authorization.scopes, salt=f"{SALT} {authorization.uri}")
        self.client = authorization.identity
        self.fields["scopes"].error_messages["required"] = "Choose at least one, or refuse."
        self.fields["once"].required = False

    @override
    def clean_once(self) -> UUID:
        """Return a new ID if none was sent; such a form, sent again, is another consent."""
        return super().clean_once() if self.cleaned_data["once"] else uuid7()

    def read_consent(self, *, owner: Any) -> Consent:
        request = self.read_request(name=self.client.name)
        return Consent(request, self.client, self.cleaned_data["once"], owner)
