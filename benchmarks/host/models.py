from django.conf import settings
from django.db import models


class Ticket(models.Model):
    # Tables of apps without migrations are made before those of the users.
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, db_constraint=False)
    title = models.CharField(max_length=200)
    body = models.TextField(blank=True, default="")
    priority = models.IntegerField(default=1)
    due = models.DateField(null=True, blank=True)

    class Meta:
        app_label = "host"
