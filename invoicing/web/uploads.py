"""Which uploaded files are read at all, and how much of them."""

from io import BytesIO
from typing import Any

from django.core.exceptions import TooManyFilesSent
from django.core.files.uploadedfile import InMemoryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler
from typing_extensions import override

from invoicing.customer_imports import reading
from invoicing.services import logos

# The most bytes that a file may have, by the page that takes it.
TAKING_FILES = {
    "admin:invoices_company_add": logos.MAX_BYTES,
    "admin:invoices_company_change": logos.MAX_BYTES,
    "import-customers": reading.MAX_BYTES,
}


class PageUploadHandler(FileUploadHandler):
    """Keeps the file of somebody who may open a page that takes one in memory.

    Any other is refused before it is read (400). Of a file that is larger than it may be, only so
    much is kept that this can be told.
    """

    @override
    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        request: Any = self.request
        match = request.resolver_match
        self.most = TAKING_FILES.get(getattr(match, "view_name", ""), 0)
        permissions = getattr(match.func, "permissions", ()) if self.most else ()
        may_send = request.user.is_authenticated and request.user.has_perms(permissions)
        if not (self.most and may_send):
            raise TooManyFilesSent
        self.kept = BytesIO()

    @override
    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        if start <= self.most:
            self.kept.write(raw_data)

    @override
    def file_complete(self, file_size: int) -> InMemoryUploadedFile:
        self.kept.seek(0)
        return InMemoryUploadedFile(
            self.kept, self.field_name, self.file_name, self.content_type, file_size, self.charset
        )
