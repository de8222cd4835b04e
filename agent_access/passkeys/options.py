"""What a page's script is given to ask a browser for a passkey (WebAuthn, section 5.4 and 5.5)."""

from datetime import timedelta
from typing import Any

from agent_access import conf
from agent_access.keys import to_key
from agent_access.passkeys.challenges import LASTS, challenge_bytes
from agent_access.passkeys.models import Challenge, Passkey
from agent_access.passkeys.sent import decode
from agent_access.passkeys.sites import relying_party

MILLISECONDS = LASTS // timedelta(milliseconds=1)


def registration_options(challenge: Challenge) -> dict[str, Any]:
    """Return, as JSON values, what makes a passkey for the person of the challenge."""
    from webauthn import generate_registration_options  # noqa: PLC0415  loads slowly
    from webauthn.helpers import options_to_json_dict  # noqa: PLC0415  as above
    from webauthn.helpers.structs import (  # noqa: PLC0415  as above
        AuthenticatorSelectionCriteria,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    person: Any = challenge.person
    options = generate_registration_options(
        rp_id=relying_party(),
        rp_name=conf.policy().service().title,
        user_id=to_key(person.pk).bytes,
        user_name=person.get_username(),
        user_display_name=str(person),
        challenge=challenge_bytes(challenge),
        timeout=MILLISECONDS,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED,
            user_verification=UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=_describe_passkeys(person),
    )
    return options_to_json_dict(options)


def assertion_options(challenge: Challenge) -> dict[str, Any]:
    """Return, as JSON values, what lets a person sign the challenge with any of their passkeys.

    Who signs in has no person yet, and may take any passkey of this site.
    """
    from webauthn import generate_authentication_options  # noqa: PLC0415  loads slowly
    from webauthn.helpers import options_to_json_dict  # noqa: PLC0415  as above
    from webauthn.helpers.structs import UserVerificationRequirement  # noqa: PLC0415  as above

    options = generate_authentication_options(
        rp_id=relying_party(),
        challenge=challenge_bytes(challenge),
        timeout=MILLISECONDS,
        allow_credentials=_describe_passkeys(challenge.person) if challenge.person else [],
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    return options_to_json_dict(options)


def _describe_passkeys(person: Any) -> list[Any]:
    from webauthn.helpers.structs import PublicKeyCredentialDescriptor  # noqa: PLC0415  as above

    names = Passkey.objects.kept_by(person).values_list("credential_id", flat=True)
    return [PublicKeyCredentialDescriptor(id=decode(name)) for name in names]
