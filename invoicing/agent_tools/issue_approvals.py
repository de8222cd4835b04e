"""Issuing a draft invoice as an act that its person approves: the engine does the rest."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from typing_extensions import override

from agent_access.approvals.errors import ApprovalStateError
from agent_access.approvals.kinds import ApprovalKind, Clock, Step
from agent_access.approvals.snapshots import ApprovalSnapshot
from agent_access.approvals.states import ApprovalState
from invoicing.access import APPROVE_PERMISSIONS, ISSUE_PERMISSIONS, Permission
from invoicing.agent_tools import approval_texts, outputs
from invoicing.agent_tools.inputs import IssuePrepareInput
from invoicing.document_approvals import ISSUE, read_asking
from invoicing.errors import FactsChangedError, RecordNotFoundError
from invoicing.locks import lock_draft
from invoicing.models import Document, DocumentStatus, User
from invoicing.services.document_facts import Facts, read_facts
from invoicing.services.drafts import name_conflict, save_anew
from invoicing.services.issued_content import digest_content
from invoicing.services.issuing import issue_locked, require_issuable
from invoicing.signed_issues import sum_earlier, value_of
from invoicing.web.issue_warnings import render_warnings
from invoicing.web.print_warnings import render_print_warnings


class IssueKind(ApprovalKind[Document]):
    """To issue a draft invoice exactly as it was prepared."""

    name = ISSUE
    model = Document
    words = approval_texts.WORDS
    scope = "invoices:execute"
    module = "invoices"
    permissions = APPROVE_PERMISSIONS
    execute_permissions = ISSUE_PERMISSIONS
    request_input = IssuePrepareInput
    review_template = "invoicing/review.html"
    hidden_template = "invoicing/review_hidden.html"

    @override
    def visible_to(self, user: User) -> QuerySet[Document]:
        if not user.has_perm(Permission.VIEW_DOCUMENT):
            return Document.objects.none()
        return Document.objects.visible_to(user)

    @override
    def find(self, user: User | None, key: UUID, *, lock: bool) -> Document | None:
        """Find it in the person's reach; the permission to see documents is checked by itself."""
        try:
            if lock:
                return lock_draft(key, visible_to=user)
            documents = Document.objects.visible_to(user) if user else Document.objects.all()
            return documents.find(key)
        except RecordNotFoundError:
            return None

    @override
    def find_many(self, keys: Collection[UUID]) -> Mapping[UUID, Document]:
        return Document.objects.select_related("customer").in_bulk(keys)

    @override
    def facts(self, target: Document) -> Facts:
        return self.facts_of_many([target])[0]

    @override
    def facts_of_many(self, targets: Sequence[Document]) -> Sequence[Facts]:
        return read_facts(targets)

    @override
    def version(self, target: Document) -> int:
        return target.lock_version

    @override
    def is_current(self) -> Q:
        """Compare the version; a change of the customer, a rate or the company is told by facts."""
        unchanged = Document.objects.filter(
            pk=OuterRef("target"),
            status=DocumentStatus.DRAFT,
            lock_version=OuterRef("target_version"),
        )
        return Q(Exists(unchanged))

    @override
    def check_request(self, target: Document, asked: IssuePrepareInput) -> None:
        if not target.is_draft_invoice or target.lock_version != asked.lock_version:
            raise name_conflict(target)

    @override
    def check(self, target: Document) -> None:
        require_issuable(target)

    @override
    def execute(self, approved: ApprovalSnapshot, *, clock: Clock) -> Document:
        issued_by_id = approved.approval.delegated_user_id
        try:
            return issue_locked(
                approved.target, approved.current, issued_by_id=issued_by_id, clock=clock
            )
        except FactsChangedError:
            raise ApprovalStateError(ApprovalState.STALE) from None

    @override
    def executed_at(self, outcome: Any, *, clock: Clock) -> datetime:
        """Return the moment at which the document was frozen, after the last lock."""
        issued_at: datetime = outcome.issued_at
        return issued_at

    @override
    def content_digest(self, executed: ApprovalSnapshot, outcome: Any) -> str:
        """Return the digest of the document as it was frozen, with its number."""
        return digest_content(outcome)

    @override
    def party(self, target: Document) -> UUID:
        return target.customer_id

    @override
    def value(self, target: Document) -> tuple[str, Decimal]:
        return value_of(target)

    @override
    def earlier(self, user: User, target: Document) -> Mapping[str, Decimal]:
        return sum_earlier(user, target)

    @override
    def withdraw(self, user: User, target: Document) -> None:
        save_anew(target)

    @override
    def describe(self, snapshot: ApprovalSnapshot, user: User) -> Mapping[str, Any]:
        return approval_texts.describe_review(snapshot, user)

    @override
    def compare(
        self, before: Mapping[str, Any], snapshot: ApprovalSnapshot, user: User
    ) -> Mapping[str, Any]:
        return approval_texts.describe_since(dict(before), snapshot.prepared)

    @override
    def steps(self, target: Document, user: User) -> Iterable[Step]:
        return approval_texts.tell_writes(target, user)

    @override
    def describe_hidden(self, snapshot: ApprovalSnapshot, user: User) -> Mapping[str, Any]:
        return {"may_view_documents": user.has_perm(Permission.VIEW_DOCUMENT)}

    @override
    def describe_entry(self, snapshot: ApprovalSnapshot, user: User) -> Mapping[str, Any]:
        return approval_texts.describe_entry(snapshot)

    @override
    def details(self, snapshot: ApprovalSnapshot) -> str:
        return approval_texts.describe_briefly(snapshot.prepared)

    @override
    def warnings(self, snapshot: ApprovalSnapshot, user: User) -> Sequence[str]:
        asking = read_asking(snapshot.approval)
        draft, facts = snapshot.target, snapshot.prepared
        found = render_warnings(user, draft, facts, now=snapshot.now, asking=asking)
        return [found] if found else []

    @override
    def slow_warnings(self, snapshot: ApprovalSnapshot, user: User) -> Sequence[str]:
        found = render_print_warnings(snapshot.target, snapshot.prepared)
        return [found] if found else []

    @override
    def answer_execution(self, executed: ApprovalSnapshot, outcome: Any) -> Mapping[str, Any]:
        return outputs.describe_execution(executed, outcome)


ISSUE_APPROVAL = IssueKind()
