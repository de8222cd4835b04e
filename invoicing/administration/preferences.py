"""The language and the time zone in which a person reads, as an act of administration."""

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agent_access.audit import Actor
from invoicing.administration.acts import act_of, record_admin_act
from invoicing.locks import lock_person
from invoicing.models import User
from invoicing.time_zones import zone_names

UNKNOWN_LANGUAGE = _("Choose a language from the list.")
UNKNOWN_ZONE = _("Choose a name of the IANA time zone database, such as Europe/Berlin.")


def choose_preferences(actor: Actor, *, language: str, time_zone: str) -> User:
    """Keep in which language and time zone the actor reads; an empty language is the browser's.

    Raises ValidationError, and PermissionMissingError if the person is not active any more or their
    sessions ended since.
    """
    if language and language not in dict(settings.LANGUAGES):
        raise ValidationError({"language": UNKNOWN_LANGUAGE})
    if time_zone not in zone_names():
        raise ValidationError({"time_zone": UNKNOWN_ZONE})
    chosen = {"language": language, "time_zone": time_zone}
    with act_of(actor, lambda by: by.is_active) as by:
        person = lock_person(by.pk)
        changed = [name for name, value in chosen.items() if getattr(person, name) != value]
        if changed or person.time_zone_chosen_at is None:
            person.language, person.time_zone = language, time_zone
            person.time_zone_chosen_at = timezone.now()
            person.save(update_fields=[*chosen, "time_zone_chosen_at"])
            detail = ", ".join(changed or ["time_zone"])
            record_admin_act("person:changed", target=person.pk, actor=actor, detail=detail)
    return person
