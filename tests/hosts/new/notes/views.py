"""The notes for people, over REST framework, and since then for agents too."""

from typing import Any

from rest_framework.permissions import DjangoModelPermissions
from rest_framework.serializers import ModelSerializer
from rest_framework.viewsets import ModelViewSet
from typing_extensions import override

from agent_access.http.agent_calls import AgentCalls
from agent_access.http.viewset_tools import Terms

from .models import Note


class NoteSerializer(ModelSerializer):  # type: ignore[misc]  # REST framework has no types
    class Meta:
        model = Note
        fields = ("id", "text")


class NotebookViewSet(AgentCalls, ModelViewSet):  # type: ignore[misc]  # as above
    queryset = Note.objects.order_by("id")
    serializer_class = NoteSerializer
    permission_classes = [DjangoModelPermissions]
    agent_terms = {
        "list": Terms(scope="notes:read", description="Lists the person's notebook."),
        "create": Terms(scope="notes:write", description="Adds a note to the notebook."),
    }

    @override
    def get_queryset(self) -> Any:
        return super().get_queryset().filter(owner=self.request.user.pk)

    @override
    def perform_create(self, serializer: Any) -> None:
        serializer.save(owner=self.request.user)
