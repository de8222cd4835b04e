"""What was made of issued documents: the files that leave the house."""

from django.db import models
from django.utils import timezone
from typing_extensions import override

from invoicing.identifiers import new_id
from invoicing.models.documents import Document


class OriginalKind(models.TextChoices):
    """The files of a document: its PDF, and its e-invoices that stand alone."""

    PDF = "pdf", "PDF"
    XRECHNUNG = "xrechnung", "XRechnung"
    PEPPOL = "peppol", "Peppol"


class Original(models.Model):
    """A file of an issued document, made once; it is never changed or deleted.

    `made_with` has the versions of what made it, by package. `digest` is the SHA-256 of the
    content.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # The unique constraint begins with it, and so is its index.
    document = models.ForeignKey(
        Document, on_delete=models.PROTECT, related_name="originals", db_index=False
    )
    kind = models.CharField(max_length=9, choices=OriginalKind)
    content = models.BinaryField()
    digest = models.CharField(max_length=64)
    made_with = models.JSONField()
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["document", "kind"], name="original_of_document"),
            models.CheckConstraint(
                condition=models.Q(kind__in=OriginalKind.values), name="original_kind"
            ),
        ]

    @override
    def __str__(self) -> str:
        return f"{self.document} ({self.get_kind_display()})"

    def read_content(self) -> bytes:
        """Return the file, and keep nothing of it here: an export goes through thousands."""
        contents = Original.objects.values_list("content", flat=True)
        return bytes(contents.get(pk=self.pk))
