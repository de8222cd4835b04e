"""Tickets, and what is said of them."""

from django.conf import settings
from django.db import models


class Ticket(models.Model):
    class Priority(models.TextChoices):
        LOW = "low"
        HIGH = "high"

    class Status(models.TextChoices):
        OPEN = "open"
        CLOSED = "closed"

    requester = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT)
    subject = models.CharField(max_length=100)
    body = models.TextField(blank=True)
    priority = models.CharField(max_length=4, choices=Priority, default=Priority.LOW)
    status = models.CharField(max_length=6, choices=Status, default=Status.OPEN)

    class Meta:
        permissions = [("close_ticket", "Can close a ticket")]


class Comment(models.Model):
    ticket = models.ForeignKey(Ticket, models.CASCADE, related_name="comments")
    text = models.CharField(max_length=500)
