"""Tickets of a help desk, numbered."""

from django.conf import settings
from django.db import models


class Ticket(models.Model):
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    subject = models.CharField(max_length=200)
