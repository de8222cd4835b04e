"""Files of customers that wait for a person's look at what they would change."""

from django.db import models
from django.utils import timezone
from typing_extensions import override

from invoicing.identifiers import new_id
from invoicing.models.people import User


class CustomerImport(models.Model):
    """An uploaded file, kept until it is imported or given up.

    `columns` has the field of each column, or "" for one that is not imported.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    file_name = models.CharField(max_length=200)
    content = models.BinaryField()
    columns = models.JSONField(default=list)

    @override
    def __str__(self) -> str:
        return self.file_name
