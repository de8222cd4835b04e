"""What the owner decides on the consent page."""

from collections.abc import Sequence

from django.http import QueryDict

from agent_access.forms import LendingForm


class ConsentForm(LendingForm):
    def __init__(self, data: QueryDict | None = None, *, asked: Sequence[str]) -> None:
        super().__init__(data, asked=asked)
        self.fields["scopes"].error_messages["required"] = "Choose at least one, or refuse."
