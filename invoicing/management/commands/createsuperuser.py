"""Extends Django's command, which would leave no audit event."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.auth.management.commands import createsuperuser
from django.db.models.signals import post_save
from typing_extensions import override

from agent_access.audit import OPERATOR
from agent_access.operator_command import OperatorCommand
from invoicing.administration.acts import write_down
from invoicing.models import User


class Command(OperatorCommand, createsuperuser.Command):
    @override
    def handle(self, *args: Any, **options: Any) -> None:
        with _written_down():
            super().handle(*args, **options)


@contextmanager
def _written_down() -> Iterator[None]:
    """Append an event for each person that is created meanwhile, in the same transaction.

    Django's command asks and saves in one method, so only the model's signal comes in between.
    """
    post_save.connect(_write_down, sender=User)
    try:
        yield
    finally:
        post_save.disconnect(_write_down, sender=User)


def _write_down(instance: User, **_: Any) -> None:
    write_down(
        "person:created",
        target=instance.pk,
        actor=OPERATOR,
        detail="is_staff=yes, is_superuser=yes",
    )
