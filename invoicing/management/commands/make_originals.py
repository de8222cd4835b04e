"""The originals of a period made ahead, so that nobody waits for one."""

from collections.abc import Iterator
from typing import Any

from typing_extensions import override

from invoicing.management.period_command import PeriodCommand
from invoicing.originals.periods import Found


class Command(PeriodCommand):
    help = "Makes the originals of a period that are not kept yet; it may be broken off."

    @override
    def handle_originals(self, originals: Iterator[Found], **options: Any) -> list[str]:
        kept, failures = 0, []
        for found in originals:
            if found.original:
                kept += 1
            else:
                failures.append(found.sentence)
        self.stdout.write(f"Originals kept: {kept}.")
        return failures
