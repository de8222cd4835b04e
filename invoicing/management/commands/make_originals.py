"""The originals of a period made ahead, so that nobody waits for one."""

from collections.abc import Iterator
from typing import Any

from typing_extensions import override

from invoicing.management.period_command import PeriodCommand
from invoicing.models import Original


class Command(PeriodCommand):
    help = "Makes the originals of a period that are not kept yet; it may be broken off."

    @override
    def handle_originals(
        self, originals: Iterator[Original], failures: list[str], **options: Any
    ) -> None:
        self.stdout.write(f"Originals kept: {sum(1 for _ in originals)}.")
