"""System checks of a project that has kinds of approvals: whether people can get to the pages."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.core import checks
from django.urls import NoReverseMatch, reverse

from agent_access.approvals.kinds import kinds


@checks.register(checks.Tags.urls)
def check_pages(**kwargs: Any) -> Iterator[checks.CheckMessage]:
    """Refuse kinds without pages: no agent could name the one on which its person decides."""
    try:
        if kinds.names:
            reverse("agent_approvals:review", args=[UUID(int=0)])
    except NoReverseMatch:
        yield checks.Error(
            "There are kinds of approvals, and no pages on which a person decides.",
            hint='Include "agent_access.approvals.urls" in the paths.',
            id="agent_approvals.E001",
        )
