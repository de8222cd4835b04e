"""Extends Django's command, which would leave no audit event."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.auth.management.commands import createsuperuser
from django.core.management import CommandError
from django.db.models.signals import post_save, pre_save
from typing_extensions import override

from agent_access.audit import OPERATOR
from agent_access.operator_command import OperatorCommand
from invoicing.administration.acts import record_admin_act, take_locks
from invoicing.models import User


class Command(OperatorCommand, createsuperuser.Command):
    requires_migrations_checks = False  # OperatorCommand says it in one sentence

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with _acting():
                super().handle(*args, **options)
        except EOFError:
            raise CommandError("The input ended; nobody was created.") from None
        except UnicodeError:
            raise CommandError("A value is not text in UTF-8; nobody was created.") from None


@contextmanager
def _acting() -> Iterator[None]:
    """Make an act of administration of each creation of a person meanwhile: locks, then an event.

    Django's command asks and saves in one method, so only the model's signals come in between. They
    are sent in the transaction of UserManager.create_user().
    """
    pre_save.connect(_lock, sender=User)
    post_save.connect(_write_down, sender=User)
    try:
        yield
    finally:
        pre_save.disconnect(_lock, sender=User)
        post_save.disconnect(_write_down, sender=User)


def _lock(**_: Any) -> None:
    take_locks()


def _write_down(instance: User, **_: Any) -> None:
    record_admin_act(
        "person:created",
        target=instance.pk,
        actor=OPERATOR,
        detail="is_staff=yes, is_superuser=yes",
    )
