"""The pages of approvals, guarded as all pages of this application."""

from datetime import datetime

from django.urls import path

from agent_access.approvals import views
from agent_access.approvals.descriptions import Told, describe_entries
from agent_access.approvals.history import describe_history
from agent_access.approvals.kinds import kinds
from invoicing.document_approvals import ISSUE, read_decisions_on, read_pending_of
from invoicing.models import Document, User
from invoicing.web.pages import page

urlpatterns = [
    path("approvals", page()(views.list_approvals), name="inbox"),
    path("approvals/missed", page()(views.list_missed), name="missed"),
    path("approvals/waiting", page()(views.show_waiting_count), name="waiting"),
    path(
        "approvals/<agent_access_id:pk>", page(methods=("GET", "POST"))(views.review), name="review"
    ),
    path(
        "approvals/<agent_access_id:pk>/sign",
        page(methods=("GET", "POST"))(views.give_options),
        name="sign",
    ),
    path("approvals/<agent_access_id:pk>/version", page()(views.show_page_version), name="version"),
    path(
        "approvals/<agent_access_id:pk>/withdraw",
        page(methods=("GET", "POST"))(views.withdraw_approval),
        name="withdraw",
    ),
    path(
        "approvals/connections/<agent_access_id:pk>/reject",
        page(methods=("GET", "POST"))(views.reject_all_of),
        name="reject-all",
    ),
]


def describe_pending_of(user: User, document: Document, *, now: datetime) -> list[Told]:
    """Describe what the person is asked to decide of a draft now."""
    return describe_entries(read_pending_of(user, document, now=now), user)


def describe_decisions_on(user: User, document: Document, *, now: datetime) -> list[Told]:
    """Describe what the person decided of a draft as it is now; nothing once it is issued."""
    decided = [] if document.is_issued else read_decisions_on(user, document, now=now)
    return describe_entries(decided, user)


def describe_history_of(user: User, document: Document, *, now: datetime) -> list[Told]:
    """Describe what happened to a document that the person sees, as far as they may know it."""
    return describe_history(kinds.get(ISSUE), document, document.pk, user, now=now)
