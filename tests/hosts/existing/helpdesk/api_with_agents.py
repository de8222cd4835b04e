"""The API for the company's own programs and pages."""

from agent_access.fields import ToolInput
from agent_access.http.agent_calls import AgentCalls
from agent_access.http.viewset_tools import Terms
from django.db.models import QuerySet
from rest_framework.decorators import action
from rest_framework.mixins import CreateModelMixin
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ReadOnlyModelViewSet

from helpdesk.models import Ticket
from helpdesk.serializers import TicketSerializer


class PageInput(ToolInput):
    page: int = 1


class TicketViewSet(AgentCalls, CreateModelMixin, ReadOnlyModelViewSet):
    queryset = Ticket.objects.order_by("id").prefetch_related("comments")
    serializer_class = TicketSerializer
    agent_terms = {
        "list": Terms(scope="tickets:read", description="Lists the tickets.", input=PageInput),
        "retrieve": Terms(scope="tickets:read", description="Reads a ticket."),
        "create": Terms(scope="tickets:write", description="Opens a ticket."),
    }

    def get_queryset(self) -> QuerySet[Ticket]:
        return super().get_queryset().filter(requester=self.request.user.pk)

    def perform_create(self, serializer: TicketSerializer) -> None:
        serializer.save(requester=self.request.user)

    @action(detail=True, methods=["post"])
    def close(self, request: Request, pk: str) -> Response:
        ticket = self.get_object()
        ticket.status = Ticket.Status.CLOSED
        ticket.save()
        return Response(self.get_serializer(ticket).data)
