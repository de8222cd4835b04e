"""What of a serializer and a viewset becomes a tool, and what a check refuses at the start."""

from typing import Any, ClassVar

import pytest
from django.contrib.auth.decorators import login_required
from django.contrib.auth.mixins import PermissionRequiredMixin
from django.utils.decorators import method_decorator
from jsonschema import Draft202012Validator
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.pagination import LimitOffsetPagination, PageNumberPagination
from rest_framework.response import Response
from rest_framework.viewsets import ModelViewSet, ViewSet

from agent_access.errors import ValidationFailedError
from agent_access.fields import ToolInput
from agent_access.http import checks, viewset_tools
from agent_access.http.agent_calls import AgentCalls
from agent_access.http.serializer_inputs import make_input
from agent_access.http.viewset_tools import Terms, tools_from
from agent_access.inputs import parse_input
from agent_access.tools import NoInput, Tool
from invoicing.models import Team, User

# How a tool is made is the same on both databases: once is enough.
pytestmark = pytest.mark.sqlite

ID = "01999999-0000-7000-8000-000000000000"


class PartSerializer(serializers.Serializer):
    name = serializers.CharField()
    size = serializers.FloatField(required=False, min_value=0)


class EverythingSerializer(serializers.Serializer):
    text = serializers.CharField(min_length=1, max_length=5, help_text="A word.")
    blank = serializers.CharField(required=False, allow_blank=True)
    none = serializers.CharField(required=False, allow_null=True)
    copy = serializers.BooleanField(required=False)
    count = serializers.IntegerField(required=False, min_value=1, max_value=9)
    price = serializers.DecimalField(required=False, max_digits=5, decimal_places=2)
    color = serializers.ChoiceField(["red", "blue"], required=False)
    sizes = serializers.MultipleChoiceField(choices=[1, 2], required=False)
    mail = serializers.EmailField(required=False)
    key = serializers.UUIDField(required=False)
    day = serializers.DateField(required=False)
    other_day = serializers.DateField(required=False, input_formats=["%d.%m.%Y"])
    moment = serializers.DateTimeField(required=False)
    time = serializers.TimeField(required=False)
    tags = serializers.ListField(
        child=serializers.CharField(max_length=3), max_length=2, required=False
    )
    lead = serializers.PrimaryKeyRelatedField(queryset=User.objects.all(), required=False)
    members = serializers.PrimaryKeyRelatedField(
        queryset=User.objects.all(), many=True, required=False
    )
    part = PartSerializer(required=False)
    parts = PartSerializer(many=True, required=False, allow_empty=False)
    read = serializers.CharField(read_only=True)
    hidden = serializers.HiddenField(default="set by the view")


def tool_of(model: type[ToolInput]) -> Tool:
    return Tool(
        name="things.make",
        title="",
        description="",
        method="POST",
        path="/things",
        module=None,
        scope=None,
        permissions=(),
        input=model,
        run=print,
    )


EVERYTHING = make_input(EverythingSerializer(), name="Everything")
SCHEMA = tool_of(EVERYTHING).input_schema
VALIDATOR = Draft202012Validator(SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER)

VALID: list[dict[str, Any]] = [
    {},
    {"blank": ""},
    {"none": None},
    {"copy": True},
    {"count": 9},
    {"count": 5.0},
    {"price": "12.50"},
    {"color": "red"},
    {"sizes": [1, 2]},
    {"mail": "a@b.example"},
    {"key": ID},
    {"day": "2026-01-31"},
    {"other_day": "31.01.2026"},
    {"moment": "2026-01-31T10:00:00Z"},
    {"time": "10:00"},
    {"tags": ["a", "b"]},
    {"lead": ID, "members": [ID]},
    {"part": {"name": "x", "size": 1.5}},
    {"parts": [{"name": "x"}, {"name": "y", "size": 2}]},
]
INVALID: list[tuple[dict[str, Any], str]] = [
    ({"text": ""}, "text"),
    ({"text": "longer"}, "text"),
    ({"text": 1}, "text"),
    ({"copy": "true"}, "copy"),
    ({"count": 0}, "count"),
    ({"count": "1"}, "count"),
    ({"price": 12.5}, "price"),
    ({"price": "12,5"}, "price"),
    ({"color": "green"}, "color"),
    ({"sizes": [3]}, "sizes.0"),
    ({"key": "x"}, "key"),
    ({"tags": ["long"]}, "tags.0"),
    ({"tags": ["a", "b", "c"]}, "tags"),
    ({"lead": 5}, "lead"),
    ({"members": ["x"]}, "members.0"),
    ({"part": {}}, "part.name"),
    ({"part": {"name": "x", "shape": "y"}}, "part.shape"),
    ({"parts": []}, "parts"),
    ({"parts": [{"name": "x", "size": -1}]}, "parts.0.size"),
    ({"read": "x"}, "read"),
    ({"hidden": "x"}, "hidden"),
    ({"more": "x"}, "more"),
]


@pytest.mark.parametrize("given", VALID)
def test_what_the_schema_takes_the_input_and_the_serializer_take(db, given):
    body = {"text": "word", **given}
    VALIDATOR.validate(body)
    inputs = parse_input(EVERYTHING, body)
    sent = inputs.model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert sent == body
    serializer = EverythingSerializer(data=sent)
    serializer.is_valid()
    assert {*serializer.errors} <= {"lead", "members"}  # there are no such users


@pytest.mark.parametrize(("given", "path"), INVALID)
def test_what_the_schema_refuses_the_input_refuses_too(given, path):
    body = {"text": "word", **given}
    assert not VALIDATOR.is_valid(body)
    with pytest.raises(ValidationFailedError) as refused:
        parse_input(EVERYTHING, body)
    assert refused.value.fields == (path,)


def test_a_schema_has_the_words_of_the_serializer_and_no_field_that_is_not_written():
    assert SCHEMA["properties"]["text"] == {
        "type": "string",
        "minLength": 1,
        "maxLength": 5,
        "description": "A word.",
    }
    assert SCHEMA["required"] == ["text"]
    assert SCHEMA["additionalProperties"] is False
    assert "read" not in SCHEMA["properties"]
    assert "format" not in SCHEMA["properties"]["other_day"]


def test_null_is_a_value_where_the_serializer_takes_it_and_left_out_elsewhere():
    inputs = parse_input(EVERYTHING, {"text": "word", "none": None, "count": None})
    assert inputs.model_dump(exclude_unset=True) == {"text": "word", "none": None}


def test_of_a_partial_input_everything_may_be_left_out():
    partial = make_input(EverythingSerializer(), name="Part", partial=True)
    assert parse_input(partial, {}).model_dump(exclude_unset=True) == {}
    assert parse_input(partial, {"part": {}}).model_dump(exclude_unset=True) == {"part": {}}
    assert "required" not in tool_of(partial).input_schema


@pytest.mark.parametrize("name", ["lead", "text"])
def test_a_text_with_nul_never_reaches_the_database(name):
    with pytest.raises(ValidationFailedError) as refused:
        parse_input(EVERYTHING, {"text": "word", name: "\0"})
    assert refused.value.fields == (name,)


class TeamSerializer(serializers.ModelSerializer):
    class Meta:
        model = Team
        fields: tuple[str, ...] = ("id", "name")


class Odd(serializers.Field):
    pass


class OddSerializer(TeamSerializer):
    odd = Odd()

    class Meta(TeamSerializer.Meta):
        fields = ("odd",)


class FileSerializer(TeamSerializer):
    picture = serializers.ImageField()

    class Meta(TeamSerializer.Meta):
        fields = ("picture",)


class TwoAPage(PageNumberPagination):
    page_size = 2


class TenFromAnOffset(LimitOffsetPagination):
    default_limit = 10


class OffsetInput(ToolInput):
    offset: int = 0


class Base(AgentCalls, ModelViewSet):
    queryset: Any = Team.objects.all()
    serializer_class: Any = TeamSerializer
    pagination_class: Any = None
    terms: ClassVar = Terms(scope="s", description="d")


class NoSuchAction(Base):
    agent_terms = {"close": Base.terms}


class ManyMethods(Base):
    agent_terms = {"both": Base.terms}

    @action(detail=False, methods=["get", "post"])
    def both(self, request):
        return Response()


class MethodSwitchedOff(Base):
    http_method_names = ["get", "post"]
    agent_terms = {"update": Base.terms}


class ParameterInPath(Base):
    agent_terms = {"part": Base.terms}

    @action(detail=True, url_path=r"parts/(?P<part>\d+)")
    def part(self, request, pk, part):
        return Response()


class BodyUnknown(Base):
    agent_terms = {"close": Base.terms}

    @action(detail=True, methods=["post"])
    def close(self, request, pk):
        return Response()


class FoundByName(Base):
    lookup_field = "name"
    agent_terms = {"retrieve": Base.terms}


class ModelUnknown(Base):
    queryset = None
    serializer_class = PartSerializer
    agent_terms = {"list": Base.terms}


class NoModelAtAll(AgentCalls, ViewSet):
    agent_terms = {"list": Base.terms}

    def list(self, request):
        return Response()


class OddField(Base):
    serializer_class = OddSerializer
    agent_terms = {"create": Base.terms}


class FileField(Base):
    serializer_class = FileSerializer
    agent_terms = {"partial_update": Base.terms}


class NextPageUnknown(Base):
    pagination_class = TwoAPage
    agent_terms = {"list": Base.terms}


class GuardedByMixin(PermissionRequiredMixin, Base):
    permission_required = "invoices.manage"
    agent_terms = {"list": Base.terms}


@method_decorator(login_required, name="dispatch")
class GuardedByDecorator(Base):
    agent_terms = {"list": Base.terms}


@pytest.fixture
def found(monkeypatch):
    monkeypatch.setattr(checks, "_found", [])
    monkeypatch.setattr(viewset_tools, "_tools", {})
    return lambda: [(each.id, each.msg) for each in checks.check_actions()]


@pytest.mark.parametrize(
    ("viewset", "number", "text"),
    [
        (BodyUnknown, "E020", "close is not a tool: it does not say what it takes."),
        (FileField, "E021", "partial_update is not a tool: it takes a file as picture,"),
        (OddField, "E022", "create is not a tool: it takes Odd as odd, for which there is no"),
        (FoundByName, "E023", "retrieve is not a tool: it finds records by name, which is neither"),
        (ModelUnknown, "E023", "list is not a tool: it does not tell the model of its records."),
        (NoModelAtAll, "E023", "list is not a tool: it does not tell the model of its records."),
        (NextPageUnknown, "E024", "list is not a tool: it answers pages, and its Terms declare no"),
        (NoSuchAction, "E025", "close is not a tool: it is not one method of the viewset."),
        (ManyMethods, "E025", "both is not a tool: it is not one method"),
        (MethodSwitchedOff, "E025", "update is not a tool: it is not one method"),
        (ParameterInPath, "E025", "part is not a tool: it takes more from its path"),
        (GuardedByMixin, "E026", "list is not a tool: it has a view with a dispatch of its own"),
        (GuardedByDecorator, "E026", "list is not a tool: it has a view with a dispatch"),
    ],
)
def test_what_cannot_be_a_tool_is_none_and_a_check_says_why(found, viewset, number, text):
    assert tools_from(viewset, basename="teams") == []
    [(code, message)] = found()
    assert code == f"agent_access.{number}"
    assert message.startswith(f"{viewset.__name__}.{text}")


def test_what_the_terms_say_goes_before_what_is_made_of_the_viewset(found):
    class Told(Base):
        pagination_class = TenFromAnOffset
        lookup_field = "id"
        agent_terms = {
            "list": Terms(scope="s", description="d", input=OffsetInput, permissions=("a.b",)),
            "close": Terms(
                scope="s",
                description="d",
                name="crews.finish",
                title="Finish",
                input=NoInput,
                is_destructive=False,
            ),
        }

        @action(detail=True, methods=["post"], url_path="end/now")  # type: ignore[untyped-decorator]  # REST framework has no types
        def close(self, request, pk: str) -> Any:
            return Response()

    listed, closed = tools_from(Told, basename="our-teams", module="crews")
    assert found() == []
    assert (listed.name, listed.path, listed.module) == ("our_teams.list", "/our-teams", "crews")
    assert (listed.input, listed.permissions, listed.title) == (OffsetInput, ("a.b",), "List teams")
    assert (closed.name, closed.title, closed.path) == (
        "crews.finish",
        "Finish",
        "/our-teams/{id}/end/now",
    )
    assert (closed.input, closed.is_destructive) == (NoInput, False)
    assert closed.permissions == ["invoices.change_team"]


def test_agent_calls_after_the_view_is_refused_since_it_would_guard_nothing():
    with pytest.raises(TypeError, match="must name AgentCalls before"):

        class Wrong(ModelViewSet, AgentCalls):
            pass
