"""The form with which a person decides."""

from django import forms
from django.utils.translation import gettext as _

from agent_access.approvals.models import REJECTION_REASON_LENGTH, Decision
from agent_access.models.connections import DIGEST_LENGTH
from agent_access.texts import ControlCharacterError, normalise_text

# The values of the buttons of the form, which scripts rely on.
DECISIONS = {"approve": Decision.APPROVED, "reject": Decision.REJECTED}


class DecisionForm(forms.Form):
    """A decision, the fingerprint of what was shown, the reason of a rejection.

    `assertion` is what a browser sends of a passkey, where the decision has to be signed.
    """

    decision = forms.ChoiceField(choices=[(word, word) for word in DECISIONS])
    fingerprint = forms.CharField(max_length=DIGEST_LENGTH, required=False)
    reason = forms.CharField(required=False, strip=False)
    assertion = forms.CharField(required=False, strip=False)

    def clean_reason(self) -> str:
        """Return the normalised reason; its length counts after that."""
        try:
            reason = normalise_text(self.cleaned_data["reason"], multiline=True)
        except ControlCharacterError:
            raise forms.ValidationError(_("It holds a character that nobody can read.")) from None
        if len(reason) > REJECTION_REASON_LENGTH:
            raise forms.ValidationError(
                _("It can have at most %(most)d characters; this has %(length)d."),
                params={"most": REJECTION_REASON_LENGTH, "length": len(reason)},
            )
        return reason
