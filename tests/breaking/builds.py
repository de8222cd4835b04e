"""The builds that are served: the product, and the product made wrong on purpose."""

from collections.abc import Mapping
from enum import StrEnum

# Names the build to the server's process.
VARIABLE = "BROKEN_BUILD"


class Build(StrEnum):
    SOUND = "sound"
    RECEIPT_OUTSIDE = "receipt outside the transaction"
    MAXIMUM_PLUS_ONE = "number from MAX + 1"
    APPROVAL_NOT_READ = "approval not read again"
    MACHINES_CLOCK = "approval by the clock of each machine"

    @property
    def application(self) -> str:
        module = "config.wsgi" if self == Build.SOUND else "tests.breaking.broken_wsgi"
        return f"{module}:application"


# The database itself refuses a second invoice of one number; a service with such a build would have
# been designed without that.
LAXER_TABLES: Mapping[Build, str] = {
    Build.MAXIMUM_PLUS_ONE: """
        ALTER TABLE invoices_document DROP CONSTRAINT document_series_value,
            DROP CONSTRAINT document_number
    """
}
