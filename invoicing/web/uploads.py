"""Which uploaded files are read at all, and how much of them."""

from io import BytesIO
from typing import Any

from django.core.exceptions import TooManyFilesSent
from django.core.files.uploadedfile import InMemoryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler
from typing_extensions import override

from invoicing.services.logos import MAX_BYTES

TAKING_FILES = {"admin:invoices_company_add", "admin:invoices_company_change"}


class LogoUploadHandler(FileUploadHandler):
    """Keeps the file of somebody who is signed in, for the company's form, in memory.

    Any other is refused before it is read (400). Of a file that is larger than a logo may be, only
    so much is kept that this can be told.
    """

    @override
    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        request: Any = self.request
        page = getattr(request.resolver_match, "view_name", "")
        if page not in TAKING_FILES or not request.user.is_authenticated:
            raise TooManyFilesSent
        self.kept = BytesIO()

    @override
    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        if start <= MAX_BYTES:
            self.kept.write(raw_data)

    @override
    def file_complete(self, file_size: int) -> InMemoryUploadedFile:
        return InMemoryUploadedFile(
            self.kept, self.field_name, self.file_name, self.content_type, file_size, self.charset
        )
