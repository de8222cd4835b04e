from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from agent_access.database.triggers import keep_installed


class PasskeysConfig(AppConfig):
    name = "agent_access.passkeys"
    label = "agent_passkeys"
    verbose_name = _("Passkeys")

    @override
    def ready(self) -> None:
        from agent_access import confirming, signing  # noqa: PLC0415  models must be loaded first
        from agent_access.evidence.parts import Part, parts  # noqa: PLC0415  as above
        from agent_access.passkeys import checks  # noqa: F401, PLC0415  as above
        from agent_access.passkeys.confirming import PasskeyConfirmer  # noqa: PLC0415  as above
        from agent_access.passkeys.evidence import read_passkeys, read_signatures  # noqa: PLC0415  as above
        from agent_access.passkeys.signer import PasskeySigner  # noqa: PLC0415  as above

        signing.use_signer(PasskeySigner())
        confirming.use_passkeys(PasskeyConfirmer())
        parts.register(
            Part(name="passkeys", rows=read_passkeys), Part(name="signatures", rows=read_signatures)
        )
        keep_installed(self, check_id="agent_passkeys.W001")
