"""What a test of the whole lifecycle knows of a connection."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from tests.oauth.programs import Program


@dataclass(frozen=True)
class Access:
    token: str
    until: datetime
    scopes: tuple[str, ...]


@dataclass
class KnownConnection:
    """Its secrets, and whether it should live."""

    program: Program
    code: str
    code_until: datetime
    expires_at: datetime
    is_ended: bool = False
    is_code_used: bool = False
    access: list[Access] = field(default_factory=list)
    refresh: list[str] = field(default_factory=list)

    def is_live(self) -> bool:
        return not self.is_ended and timezone.now() < self.expires_at

    def keep(self, pair: dict[str, Any], scopes: tuple[str, ...]) -> None:
        until = min(timezone.now() + timedelta(hours=1), self.expires_at)
        assert pair["scope"] == " ".join(scopes)
        assert pair["expires_in"] == int((until - timezone.now()).total_seconds())
        self.access.append(Access(pair["access_token"], until, scopes))
        self.refresh.append(pair["refresh_token"])
