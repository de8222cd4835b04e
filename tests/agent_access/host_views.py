"""Views of a project that had REST framework before agents came: teams, for their members."""

from typing import Annotated, Any

from django.contrib.auth.models import Group
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.cache import cache_page
from django.views.decorators.vary import vary_on_cookie
from pydantic import Field
from rest_framework import exceptions, serializers, status
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.decorators import action
from rest_framework.filters import SearchFilter
from rest_framework.generics import RetrieveAPIView
from rest_framework.pagination import PageNumberPagination
from rest_framework.permissions import BasePermission, DjangoModelPermissions, IsAuthenticated
from rest_framework.response import Response
from rest_framework.routers import DefaultRouter
from rest_framework.throttling import UserRateThrottle
from rest_framework.viewsets import ModelViewSet, ReadOnlyModelViewSet

from agent_access.fields import WHOLE, ToolInput
from agent_access.http.agent_calls import AgentCalls
from agent_access.http.authentication import ConnectionAuthentication
from agent_access.http.permissions import HasGrant
from agent_access.http.throttles import AddressThrottle, ConnectionThrottle
from agent_access.http.viewset_tools import Terms, tools_from
from agent_access.tools import NoInput
from invoicing.models import Team, User

READ, WRITE = "teams:read", "teams:write"


class TwoAPage(PageNumberPagination):
    page_size = 2


class AgendaSerializer(serializers.Serializer):
    topic = serializers.CharField(max_length=20)
    minutes = serializers.IntegerField(min_value=1, max_value=60, required=False)


class TeamSerializer(serializers.ModelSerializer):
    agenda = AgendaSerializer(many=True, write_only=True, required=False)

    class Meta:
        model = Team
        fields = ("id", "name", "description", "archived_at", "members", "agenda")
        read_only_fields = ("archived_at", "members")

    def validate_name(self, name):
        if name == "Nobody":
            raise serializers.ValidationError("A team is somebody.")
        return name

    def create(self, validated):
        topics = "".join(each["topic"] for each in validated.pop("agenda", ()))
        description = validated.pop("description", "") + topics
        return super().create({**validated, "description": description})


class MottoSerializer(serializers.Serializer):
    motto = serializers.CharField(max_length=30, allow_null=True, help_text="Null takes it back.")


class PageInput(ToolInput):
    page: Annotated[int, Field(ge=1), WHOLE] = 1
    search: Annotated[str, Field(max_length=50)] = ""


class IsWelcome(BasePermission):
    """A rule of the project's own, beside Django's permissions."""

    message = "Quiet teams are not to be disturbed."

    def has_permission(self, request, view):
        return request.user.job_title != "Outsider"

    def has_object_permission(self, request, view, team):
        return team.name != "Quiet"


class FivePerMinute(UserRateThrottle):
    rate = "5/min"
    scope = "teams"


class TeamViewSet(AgentCalls, ModelViewSet):
    queryset = Team.objects.order_by("id")
    serializer_class = TeamSerializer
    authentication_classes = [ConnectionAuthentication, SessionAuthentication]
    permission_classes = [IsAuthenticated, HasGrant, IsWelcome, DjangoModelPermissions]
    throttle_classes = [FivePerMinute]
    pagination_class = TwoAPage
    filter_backends = [SearchFilter]
    search_fields = ["name"]

    agent_terms = {
        "list": Terms(scope=READ, description="Lists the person's teams.", input=PageInput),
        "retrieve": Terms(scope=READ, description="Reads a team."),
        "create": Terms(scope=WRITE, description="Makes a team."),
        "update": Terms(scope=WRITE, description="Replaces a team."),
        "partial_update": Terms(scope=WRITE, description="Changes a team."),
        "destroy": Terms(scope=WRITE, description="Deletes a team."),
        "archive": Terms(scope=WRITE, description="Archives a team.", input=NoInput),
        "praise": Terms(scope=WRITE, description="Gives a team a motto."),
        "whoami": Terms(scope=READ, description="Tells who asks.", permissions=()),
        "leave_all": Terms(scope=WRITE, description="Leaves all teams.", input=NoInput),
    }

    def initial(self, request, *args: Any, **kwargs: Any):
        self.greeting = "Hello"
        super().initial(request, *args, **kwargs)

    def get_queryset(self):
        return super().get_queryset().filter(members=self.request.user.pk)

    def perform_create(self, serializer):
        serializer.save().members.add(self.request.user)

    @action(detail=True, methods=["post"])
    def archive(self, request, pk):
        team = self.get_object()
        if team.archived_at:
            return Response({"detail": "It is archived."}, status=status.HTTP_409_CONFLICT)
        team.archived_at = timezone.now()
        team.save()
        return Response({"greeting": self.greeting}, status=status.HTTP_202_ACCEPTED)

    @action(detail=True, methods=["post"], serializer_class=MottoSerializer)
    def praise(self, request, pk):
        team = self.get_object()
        sent = self.get_serializer(data=request.data)
        sent.is_valid(raise_exception=True)
        team.description = f"{sent.validated_data['motto']} by {request.user.name}"
        team.save()
        return Response({"motto": team.description})

    @action(detail=False, methods=["post"])
    def leave_all(self, request):
        count = request.user.teams.count()
        request.user.teams.clear()
        return Response({"left": count})

    @action(detail=False)
    def whoami(self, request):
        seen = {"user": request.user.name, "django_user": request._request.user.name}
        return Response({**seen, "cookies": request.COOKIES, "session": {**request.session}})

    @action(detail=False)
    def secrets(self, request):
        return Response({"secret": "of the people"})

    @action(detail=True, methods=["post"])
    def disband(self, request, pk):
        Team.objects.all().delete()
        raise exceptions.APIException


class HeaderAuthentication(BaseAuthentication):
    """People whom a proxy names, without Authorization and cookie."""

    def authenticate(self, request):
        person = User.objects.filter(name=request.headers.get("X-Person")).first()
        return person and (person, None)


class CachedTeamViewSet(AgentCalls, ReadOnlyModelViewSet):
    queryset = Team.objects.order_by("id")
    serializer_class = TeamSerializer
    authentication_classes = [ConnectionAuthentication, SessionAuthentication, HeaderAuthentication]
    permission_classes = [IsAuthenticated]
    throttle_classes = [AddressThrottle, ConnectionThrottle]
    pagination_class = None
    agent_terms = {"list": Terms(scope=READ, description="Lists teams.", permissions=())}

    def get_queryset(self):
        return super().get_queryset().filter(members=self.request.user.pk)

    @method_decorator(cache_page(60))
    @method_decorator(vary_on_cookie)
    def list(self, request, *args: Any, **kwargs: Any):
        return super().list(request, *args, **kwargs)


class PlainTeamViewSet(ReadOnlyModelViewSet):
    """A view that nobody has opened to agents, where ConnectionAuthentication is the default."""

    queryset = Team.objects.order_by("id")
    serializer_class = TeamSerializer
    pagination_class = None
    authentication_classes = [ConnectionAuthentication, SessionAuthentication]
    permission_classes: list[Any] = []


class ChildTeamViewSet(TeamViewSet):
    """Derives from a view that is open, and is not open itself."""


class RoleSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ("id", "name", "permissions")


class RoleViewSet(AgentCalls, ModelViewSet):
    """Records with integers as keys, which refer to others with such."""

    queryset = Group.objects.order_by("id")
    serializer_class = RoleSerializer
    permission_classes = [IsAuthenticated]
    pagination_class = None
    agent_terms = {
        action: Terms(scope=WRITE, description="Does it.", permissions=())
        for action in ("list", "retrieve", "create", "partial_update", "destroy")
    }

    def get_queryset(self):
        return super().get_queryset().filter(user=self.request.user.pk)

    def create(self, request):
        """Save without the serializer, as some views do."""
        sent = RoleSerializer(data=request.data, context=self.get_serializer_context())
        sent.is_valid(raise_exception=True)
        sent.save().user_set.add(request.user)
        return Response(sent.data, status=status.HTTP_201_CREATED)


class SingleTeamView(AgentCalls, RetrieveAPIView):
    """A view that has no actions, which are what tools are made of."""

    queryset = Team.objects.all()
    serializer_class = TeamSerializer


TOOLS = [
    *tools_from(TeamViewSet, basename="teams"),
    *tools_from(CachedTeamViewSet, basename="cached-teams"),
    *tools_from(RoleViewSet, basename="roles"),
]

router = DefaultRouter()
router.register("teams", TeamViewSet)
router.register("cached-teams", CachedTeamViewSet, basename="cached-team")
router.register("roles", RoleViewSet)
router.register("plain-teams", PlainTeamViewSet, basename="plain-team")
router.register("child-teams", ChildTeamViewSet, basename="child-team")
