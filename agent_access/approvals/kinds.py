"""What a project declares of an act that a person must approve; the engine does the rest."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured
from django.db.models import Model, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from agent_access.approvals.fact_rows import list_changes, list_facts
from agent_access.approvals.models import KIND_LENGTH, ApprovalRequest
from agent_access.approvals.snapshots import ApprovalSnapshot
from agent_access.approvals.states import ApprovalState
from agent_access.fields import ToolInput
from agent_access.keys import Key, from_key, kind_of_key, to_key
from agent_access.tools import NAME, NoInput
from agent_access.translations import Text

__all__ = ["ApprovalKind", "Clock", "Step", "Words", "kinds"]

Target = TypeVar("Target", bound=Model)

# Tells the time. It is read only after the locks, for which a call may have waited.
Clock = Callable[[], datetime]


APPROVE = _("Approve")
DONE = _("{agent} did it")
ENDED = _("The agent can no longer do this")


@dataclass(frozen=True, kw_only=True)
class Words:
    """What pages and tools call an act, and what a person should know before they approve it.

    Tools have them as the source does, and pages translate those marked by gettext_lazy.
    """

    title: Text  # Close a note
    question: Text  # Close this note?
    button: Text = APPROVE
    consequences: Sequence[Text] = ()
    # Where those for any act would be less clear.
    states: Mapping[ApprovalState, Text] = field(default_factory=dict)
    headings: Mapping[ApprovalState, Text] = field(default_factory=dict)
    heading_of_ended: Text = ENDED
    done: Text = DONE  # with {agent} for its name


@dataclass(frozen=True)
class Step:
    """Something that happened to a record: a sentence, or safe markup, and what somebody typed."""

    at: datetime
    sentence: str
    quote: str = ""


class ApprovalKind(Generic[Target]):
    """An act to one record that an agent does once its delegated person has approved it.

    A project subclasses it and registers an instance. It must say what the attributes without a
    value say, and `visible_to`, `facts` and `execute`; everything else has a default. A record of
    the model has a UUID or an integer as its key.
    """

    # As a tool is called, noun.verb; it is kept with every request and never changes.
    name: ClassVar[str]
    model: ClassVar[type[Model]]
    words: ClassVar[Words]
    scope: ClassVar[str]
    module: ClassVar[str | None] = None

    # What the person needs to let an agent ask and to approve; and to let it execute, if that is
    # more.
    permissions: ClassVar[Sequence[str]] = ()
    execute_permissions: ClassVar[Sequence[str]] = ()

    # How long a request is valid from when it was prepared.
    window: ClassVar[timedelta] = timedelta(minutes=10)
    # Whether the database keeps a second request for the same record from being executed.
    happens_once: ClassVar[bool] = True
    # Whether executing removes the record, so that its person may read the request without it.
    removes_target: ClassVar[bool] = False
    # What preparing takes besides the record.
    request_input: ClassVar[type[ToolInput]] = NoInput

    review_template: ClassVar[str] = "agent_approvals/review.html"
    hidden_template: ClassVar[str] = "agent_approvals/review_hidden.html"

    # What a kind must say.

    def visible_to(self, user: Any) -> QuerySet[Target]:
        """Return the records that this person may see."""
        raise NotImplementedError

    def facts(self, target: Target) -> Mapping[str, Any]:
        """Return all that the person is shown and that must not change until it is executed.

        The values are those that JSON has, dates, times and UUIDs, in lists and dictionaries too.
        """
        raise NotImplementedError

    def execute(self, approved: ApprovalSnapshot, *, clock: Clock) -> Any:
        """Do it to the target, which is locked and as it was approved; return what came of it.

        It runs in the transaction that keeps the result: whatever it raises undoes everything.
        """
        raise NotImplementedError

    def executed_at(self, outcome: Any, *, clock: Clock) -> datetime:
        """Return when it was done: by default now, or the moment that the outcome keeps."""
        return clock()

    def content_digest(self, executed: ApprovalSnapshot, outcome: Any) -> str:
        """Return the SHA-256, in hexadecimal, by which the audit knows what was done.

        By default the fingerprint of what was approved. A kind whose act adds to that returns the
        digest of the whole.
        """
        return executed.approval.fingerprint

    # What it may say of its records.

    def find(self, user: Any, key: UUID, *, lock: bool) -> Target | None:
        """Return the record, or None if there is none or the person may not see it.

        Without a person every record is seen. With `lock` it is locked until the transaction ends,
        before anything is asked of it.
        """
        records: QuerySet[Any] = self.model._base_manager.filter(pk=self.pk_of(key))  # noqa: SLF001  Django's public name for it
        if lock:
            records = records.select_for_update(of=("self",), no_key=True)
        found: Target | None = records.first()
        if found is None or user is None:
            return found
        # Asked after the wait for the lock.
        return found if self.visible_to(user).filter(pk=found.pk).exists() else None

    def find_many(self, keys: Collection[UUID]) -> Mapping[UUID, Target]:
        """Return the records with these keys that there are, whoever may see them, for a list."""
        records: QuerySet[Any] = self.model._base_manager.filter(pk__in=map(self.pk_of, keys))  # noqa: SLF001  Django's public name for it
        return {to_key(record.pk): record for record in records}

    def facts_of_many(self, targets: Sequence[Target]) -> Sequence[Mapping[str, Any]]:
        """Return the facts of each record, for a list."""
        return [self.facts(target) for target in targets]

    def version(self, target: Target) -> int:
        """Return the number of the record's version, by which `is_current` may tell it is stale."""
        return 0

    def is_current(self) -> Q:
        """Return which requests, by what a query can tell, ask for the record as it still is.

        Others are not counted as waiting. By default all are: it is for many requests.
        """
        return Q()

    def sees(self, user: Any) -> Q:
        """Return which requests are for a record that this person may see."""
        visible = self.visible_to(user)
        if self.key_type is UUID:
            found = Q(target__in=visible.order_by().values("pk"))
        else:
            asked = ApprovalRequest.objects.asked_of(user).filter(kind=self.name)
            pks = map(self.pk_of, set(asked.values_list("target", flat=True)))
            found = Q(target__in=[to_key(each.pk) for each in visible.filter(pk__in=list(pks))])
        return found | Q(executed_at__isnull=False) if self.removes_target else found

    @property
    def key_type(self) -> type[Key]:
        """Return whether its records have UUIDs or integers; raises ImproperlyConfigured."""
        kind = kind_of_key(self.model._meta.pk)
        if kind is None:
            text = f"the records of {self.name} have neither UUIDs nor integers as keys"
            raise ImproperlyConfigured(text)
        return kind

    def pk_of(self, key: UUID) -> Any:
        """Return the primary key that the UUID of a request stands for."""
        return from_key(key, self.key_type)

    # What it may check.

    def check_request(self, target: Target, asked: Any) -> None:
        """Raise the project's refusal if what was sent to prepare does not fit the locked one."""

    def check(self, target: Target) -> None:
        """Raise the project's refusal if it cannot be done to the locked record as that is.

        Asked when it is prepared, and again before it is executed.
        """

    def may_approve(self, user: Any) -> bool:
        """Return whether the person may approve, at this moment, what they may see."""
        return bool(user.has_perms(self.permissions))

    # What it may say of an act, for the rules of what has to be signed.

    def party(self, target: Target) -> UUID | None:
        """Return the key of whom the act concerns, or None."""
        return None

    def value(self, target: Target) -> tuple[str, Decimal] | None:
        """Return the unit in which the act is measured, and how much it is worth; or None."""
        return None

    def earlier(self, user: Any, target: Target) -> Mapping[str, Decimal]:
        """Return, by unit, what else the person lately did for the same party, or approved.

        It counts what they did by themselves, and what was approved and is not done yet, but not
        this record: of 24 hours, so that no limit is dodged by doing it in parts.
        """
        return {}

    # What it may undo.

    def withdraw(self, user: Any, target: Target) -> None:
        """Change the locked record so that what was approved of it is stale.

        The person who approved it takes that back; without this method they cannot.
        """
        raise NotImplementedError

    @property
    def can_withdraw(self) -> bool:
        return type(self).withdraw is not ApprovalKind.withdraw

    # What it may show.

    def describe(self, snapshot: ApprovalSnapshot, user: Any) -> Mapping[str, Any]:
        """Return what the review page's template needs besides what the engine tells it.

        By default every fact, and those that changed, as rows.
        """
        return {
            "facts": list(list_facts(snapshot.prepared)),
            "changes": list_changes(snapshot.prepared, snapshot.current)
            if snapshot.stale_fields
            else [],
        }

    def compare(
        self, before: Mapping[str, Any], snapshot: ApprovalSnapshot, user: Any
    ) -> Mapping[str, Any]:
        """Return what the page needs to show how it differs from what the person saw before.

        `changes` are the rows to list; where your template marks others, `is_marked` says so.
        """
        return {"changes": list_changes(dict(before), snapshot.prepared)}

    def steps(self, target: Target, user: Any) -> Iterable[Step]:
        """Return what happened to a record that the person sees, besides requests to approve."""
        return ()

    def describe_hidden(self, snapshot: ApprovalSnapshot, user: Any) -> Mapping[str, Any]:
        """Return the same for the page of a request whose record the person may not see."""
        return {}

    def describe_entry(self, snapshot: ApprovalSnapshot, user: Any) -> Mapping[str, Any]:
        """Return what a line of the inbox says besides: by default what the record is called."""
        return {"detail": str(snapshot.target or "")}

    def details(self, snapshot: ApprovalSnapshot) -> str:
        """Return what a notification says besides, to a person who chose to read it there."""
        return ""

    def warnings(self, snapshot: ApprovalSnapshot, user: Any) -> Sequence[str]:
        """Return what the person should look at twice, as sentences or as safe markup."""
        return ()

    def slow_warnings(self, snapshot: ApprovalSnapshot, user: Any) -> Sequence[str]:
        """Return further warnings, which follow from the facts alone and take long to find.

        They are sought where the page is shown, and not each time that it asks if it is outdated.
        """
        return ()

    def answer(self, snapshot: ApprovalSnapshot) -> Mapping[str, Any] | None:
        """Return what agents read of a request, or None for what the engine tells of any."""
        return None

    def answer_execution(self, executed: ApprovalSnapshot, outcome: Any) -> Mapping[str, Any]:
        """Return what executing answers; `outcome` is what `execute` returned."""
        return {
            "approval_id": executed.approval.pk,
            "status": executed.state,
            "result": outcome,
        }


class KindRegistry:
    """The kinds of a project, by name."""

    def __init__(self) -> None:
        self._kinds: dict[str, ApprovalKind[Any]] = {}

    def register(self, kind: ApprovalKind[Any]) -> None:
        """Add a kind; raises ImproperlyConfigured for a name that is taken, or is none."""
        if not NAME.fullmatch(kind.name) or len(kind.name) > KIND_LENGTH:
            raise ImproperlyConfigured(f"{kind.name!r} is no name of a kind such as noun.verb")
        if kind.name in self._kinds:
            raise ImproperlyConfigured(f"the kind {kind.name} is registered twice")
        self._kinds[kind.name] = kind

    def __iter__(self) -> Iterator[ApprovalKind[Any]]:
        return iter(self._kinds.values())

    def get(self, name: str) -> ApprovalKind[Any]:
        """Return the kind; raises KeyError for one that no installed app has registered."""
        return self._kinds[name]

    @property
    def names(self) -> Collection[str]:
        return self._kinds.keys()


kinds = KindRegistry()
