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
    CREDIT_NOTE_SILENT = "credit note without its event"
    TOKEN_TWICE = "refresh token that is good twice"
    REUSE_ENDS_NOTHING = "second use that ends nothing"
    ROTATION_SILENT = "rotation without its event"
    SENT_BY_TWO = "message that two workers send"
    MARKED_BEFORE = "message marked as sent before it is"
    DETAILS_TOLD = "amount in every message"
    ORIGINAL_ANEW = "file made anew for each reader"
    DOWNLOAD_SILENT = "download without its event"
    IMPORT_BY_ROW = "import committed row by row"
    EXPORT_SHORT = "export without its last document"
    PACKAGE_TORN = "package read without a snapshot"
    ANSWER_TAKEN_BACK = "answer to what is taken back"
    NUMBER_APART = "number in a transaction of its own"
    CHAIN_BLIND = "chain that covers no facts"
    NEVER_ANSWERED = "some calls that always fail"
    CORRECTION_UNBOUNDED = "credit note for more than there was"
    CREDIT_NOTE_TAKEN_BACK = "credit note told and taken back"
    SIGNATURE_NOT_ASKED = "signature that is not asked for"
    SIGNATURE_OF_OTHER_FACTS = "signature kept with other facts"
    REFRESH_REFUSED = "refresh token refused for no reason"
    IMPORT_TAKEN_BACK = "import told and taken back"
    PACKAGE_SHORT = "package without its first document"
    SUBSCRIPTION_KEPT = "subscription kept that is gone"
    NONCE_LOGGED = "nonce in a log that redacts nothing"

    @property
    def application(self) -> str:
        module = "config.wsgi" if self == Build.SOUND else "tests.breaking.broken_wsgi"
        return f"{module}:application"


# The database itself refuses a second invoice of one number, and to take back more than there was:
# a service with such a build would have been designed without that.
LAXER_TABLES: Mapping[Build, str] = {
    Build.MAXIMUM_PLUS_ONE: """
        ALTER TABLE invoices_document DROP CONSTRAINT document_series_value,
            DROP CONSTRAINT document_number
    """,
    # Without the trigger no server would be ready.
    Build.CORRECTION_UNBOUNDED: """
        CREATE OR REPLACE FUNCTION invoices_keep_within_corrected() RETURNS trigger
            LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'
    """,
}
