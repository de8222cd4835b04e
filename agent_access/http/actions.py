"""An action of a project's own viewset, and how a tool runs it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import orjson
from django.db.models import Model
from django.http import QueryDict
from django.utils.functional import cached_property
from rest_framework.renderers import JSONRenderer

from agent_access.addresses import API, find_path
from agent_access.callers import Caller
from agent_access.calls import CallContext, Record
from agent_access.fields import ToolInput
from agent_access.http.checks import UnsupportedActionError
from agent_access.http.exceptions import FIRST_REFUSAL, find_answer, refuse_answer
from agent_access.http.requests import CallRequest, find_options, make_request
from agent_access.keys import Key, kind_of_key
from agent_access.tools import API_PATH, Method

RENDERER = JSONRenderer()

# Where the path of an action has parameters, it is a pattern.
PLAIN_PATH = re.compile(r"[\w/-]+")


@dataclass(frozen=True)
class Standard:
    """What the name of one of REST framework's own actions says."""

    method: Method
    verb: str
    permission: str
    takes_target: bool = True
    status: HTTPStatus = HTTPStatus.OK


STANDARD: Mapping[str, Standard] = {
    "list": Standard("GET", "list", "view", takes_target=False),
    "create": Standard("POST", "create", "add", takes_target=False, status=HTTPStatus.CREATED),
    "retrieve": Standard("GET", "get", "view"),
    "update": Standard("PUT", "update", "change"),
    "partial_update": Standard("PATCH", "change", "change"),
    "destroy": Standard("DELETE", "delete", "delete"),
}


@dataclass(frozen=True)
class Action:
    """An action of a viewset, and how a tool runs it: as REST framework does for its own address.

    Whatever the door, the view gets a request with the tool's input, made for the delegated user,
    and its `initial` runs: its permissions, its throttles, and what the project has added.
    """

    viewset: type[Any]
    name: str
    basename: str

    @cached_property
    def handler(self) -> Any:
        return getattr(self.viewset, self.name, None)

    @property
    def standard(self) -> Standard | None:
        """What its name says, if REST framework has given it."""
        return STANDARD.get(self.name)

    @cached_property
    def method(self) -> Method:
        """Return its one method; raises UnsupportedActionError."""
        methods: list[Any] = [*getattr(self.handler, "mapping", ())]
        if self.standard and self.handler:
            methods = [self.standard.method]
        offered = [each for each in methods if each.lower() in self.viewset.http_method_names]
        if len(methods) != 1 or not offered:
            text = "is not one method of the viewset"
            raise UnsupportedActionError("E025", text, "Name an action that answers one method.")
        method: Method = methods[0].upper()
        return method

    @property
    def takes_target(self) -> bool:
        return self.standard.takes_target if self.standard else bool(self.handler.detail)

    @cached_property
    def model(self) -> type[Model]:
        """Return the model of its records; raises UnsupportedActionError."""
        queryset = getattr(self.viewset, "queryset", None)
        meta = getattr(getattr(self.viewset, "serializer_class", None), "Meta", None)
        model: type[Model] | None = getattr(meta if queryset is None else queryset, "model", None)
        if model is not None:
            return model
        text = "does not tell the model of its records"
        raise UnsupportedActionError("E023", text, "Set the viewset's queryset.")

    @cached_property
    def path(self) -> str:
        path = f"/{self.basename}" + ("/{id}" if self.takes_target else "")
        if self.standard:
            return path
        if not PLAIN_PATH.fullmatch(self.handler.url_path):
            text = "takes more from its path than the key of a record"
            raise UnsupportedActionError("E025", text, "Take it from the body or the query.")
        return f"{path}/{self.handler.url_path}"

    @cached_property
    def key_type(self) -> type[Key]:
        """Return what the keys of its records are; raises UnsupportedActionError."""
        options = self.model._meta
        name = self.viewset.lookup_field
        if kind := kind_of_key(options.pk if name == "pk" else options.get_field(name)):
            return kind
        text = f"finds records by {name}, which is neither a UUID nor an integer"
        hint = "Set the viewset's lookup_field to such a field."
        raise UnsupportedActionError("E023", text, hint)

    def open(
        self,
        user: Any,
        *,
        auth: Caller | None = None,
        key: Any = None,
        given: Any = None,
        root: str | None = None,
    ) -> Any:
        """Return the view with a request to run it for a user; `given` is the body or the query.

        `root` is the path of the tools, where that must not be looked for yet.
        """
        given, query = given or {}, QueryDict(mutable=True)
        if self.method == "GET":
            query.update({name: str(value) for name, value in given.items()})
        path = (root or find_path(API) or API_PATH) + self.path.replace("{id}", str(key))
        request = make_request(user, method=self.method, path=path, query=query)
        view = self.viewset(**find_options(getattr(self.handler, "kwargs", {})))
        view.basename, view.detail = self.basename, self.takes_target
        view.action_map, view.action = {self.method.lower(): self.name}, self.name
        view.args, view.kwargs = (), {} if key is None else {find_key_name(view): str(key)}
        view.request = CallRequest(request, user=user, auth=auth, data=given)
        view.headers, view.format_kwarg = {}, None
        return view

    def run(self, context: CallContext, inputs: ToolInput) -> Record[Any]:
        """Run the action; raise what refuses it as a ToolError."""
        connection = context.connection
        auth = Caller(connection, context.settings, is_approved=True, read_at=0)
        given = inputs.model_dump(mode="json", by_alias=True, exclude_unset=True)
        view = self.open(context.user, auth=auth, key=context.target, given=given)
        saved = _keep_serializers(view)
        response = self._answer(view, getattr(view, self.name))
        if response.status_code >= FIRST_REFUSAL:
            raise refuse_answer(response.status_code, response.data)
        data = orjson.Fragment(RENDERER.render(response.data) or b"null")
        # A tool's answer has a body, which says that there is nothing to say.
        is_empty = response.status_code == HTTPStatus.NO_CONTENT
        status = HTTPStatus.OK if is_empty else response.status_code
        return Record(data, self._find_key(context, saved, response.data), status)

    def find_record(self, user: Any, key: Any) -> Any:
        """Return the record; raise what keeps the user from the action or from the record."""
        view = self.open(user, key=key)
        return self._answer(view, lambda *_, **__: view.get_object())

    def check_user(self, user: Any) -> None:
        """Raise what keeps the user from the action."""
        self._answer(self.open(user), lambda *_, **__: None)

    def _answer(self, view: Any, handler: Any) -> Any:
        try:
            view.initial(view.request, **view.kwargs)
            return handler(view.request, **view.kwargs)
        except Exception as failure:
            if answer := find_answer(failure):
                raise answer from None
            raise

    def _find_key(self, context: CallContext, saved: Iterable[Any], data: Any) -> Key | None:
        """Return the key of the record that a replay looks for; none is left of a deleted one."""
        if self.name == "destroy":
            return None
        if context.target is not None or self.method == "GET":
            return context.target
        field = self.viewset.lookup_field
        for each in saved:
            if isinstance(each.instance, self.model):
                return self.key_type(str(getattr(each.instance, field)))
        if self.name != "create":
            return None
        # A view that saves without its serializer must show the key.
        return self.key_type(str(data[self.model._meta.pk.name if field == "pk" else field]))


def _keep_serializers(view: Any) -> list[Any]:
    """Return a list to which each serializer that the view will get is added."""
    kept: list[Any] = []
    make: Any = getattr(view, "get_serializer", None)

    def get_serializer(*args: Any, **kwargs: Any) -> Any:
        kept.append(make(*args, **kwargs))
        return kept[-1]

    if make:
        view.get_serializer = get_serializer
    return kept


def find_key_name(viewset: Any) -> str:
    """Return the name of the keyword argument that holds the key of a record."""
    name: str = viewset.lookup_url_kwarg or viewset.lookup_field
    return name
