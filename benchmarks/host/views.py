"""One view three times: for people, for agents, and for the tokens of Django OAuth Toolkit."""

from typing import Any

from oauth2_provider.contrib.rest_framework import OAuth2Authentication, TokenHasScope
from rest_framework.permissions import DjangoModelPermissions
from rest_framework.serializers import ModelSerializer
from rest_framework.viewsets import ModelViewSet

from agent_access.http.agent_calls import AgentCalls
from agent_access.http.authentication import ConnectionAuthentication
from agent_access.http.permissions import HasGrant
from agent_access.http.viewset_tools import Terms
from benchmarks.host.models import Ticket


class TicketSerializer(ModelSerializer):
    class Meta:
        model = Ticket
        fields = ("id", "title", "body", "priority", "due")


class TicketViewSet(ModelViewSet):
    queryset = Ticket.objects.order_by("id")
    serializer_class = TicketSerializer

    def get_queryset(self) -> Any:
        return super().get_queryset().filter(owner=self.request.user.pk)

    def perform_create(self, serializer: Any) -> None:
        serializer.save(owner=self.request.user)


class AgentViewSet(AgentCalls, TicketViewSet):
    authentication_classes = [ConnectionAuthentication]
    permission_classes = [HasGrant, DjangoModelPermissions]
    agent_terms = {
        "retrieve": Terms(scope="tickets:read", description="Reads a ticket."),
        "create": Terms(scope="tickets:write", description="Opens a ticket."),
    }


class ToolkitViewSet(TicketViewSet):
    authentication_classes = [OAuth2Authentication]
    permission_classes = [TokenHasScope, DjangoModelPermissions]

    @property
    def required_scopes(self) -> list[str]:
        return ["tickets:read" if self.request.method == "GET" else "tickets:write"]
