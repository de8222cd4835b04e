"""The records that the product is measured with, made by its own services."""

from django.db.models import Sum
from django.utils import timezone

from agent_access.approvals.engine import Requester, prepare, write_decision
from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.connections import ConnectionRequest, create_connection
from agent_access.models import Connection
from agent_access.switches import turn_access
from agent_access.tools import registry
from benchmarks.subjects import References, make_draft_input
from invoicing.agent_tools.inputs import IssuePrepareInput
from invoicing.agent_tools.issue_approvals import ISSUE_APPROVAL
from invoicing.draft_fields import DraftInput
from invoicing.models import Customer, Document, NumberSeries, TaxRate, User
from invoicing.sample_company.loading import BOOKKEEPER
from invoicing.services.drafts import ConnectionRef, create_draft


def find_references() -> References:
    """Return the records that drafts name: a customer of the sample company, and its tax rates."""
    rates = TaxRate.objects.filter(is_active=True).order_by("id").values_list("id", flat=True)
    return References(
        customer_id=str(Customer.objects.filter(is_active=True).order_by("id")[0].id),
        tax_rate_ids=tuple(map(str, rates)),
    )


class Sample:
    """The bookkeeper's connections, and approvals that only wait to be executed."""

    def __init__(self, connections: int) -> None:
        turn_access(on=True)
        self._user = User.objects.get(email=BOOKKEEPER)
        self._connections = [self._connect(number) for number in range(connections)]
        self.references = find_references()

    def connection(self, number: int) -> tuple[Connection, str]:
        """Return a connection and its credential; numbers beyond the last begin again."""
        return self._connections[number % len(self._connections)]

    def ask(self, connection: Connection) -> tuple[ApprovalRequest, str]:
        """Ask for the issue of a new draft of ten lines; return the request and its nonce."""
        draft = DraftInput.model_validate(make_draft_input(self.references, lines=10))
        maker = ConnectionRef(connection.id, connection.name)
        document = create_draft(self._user, draft, connection=maker).document
        snapshot, nonce = prepare(
            ISSUE_APPROVAL,
            self._user,
            document.id,
            IssuePrepareInput(lock_version=1),
            requester=Requester(*maker),
            clock=timezone.now,
        )
        return snapshot.approval, nonce

    def approve(self, connection: Connection) -> tuple[str, str]:
        """Return the ID and the nonce of an approved issue of a new draft of ten lines."""
        approval, nonce = self.ask(connection)
        write_decision(
            self._user,
            approval.id,
            decision=Decision.APPROVED,
            fingerprint=approval.fingerprint,
            clock=timezone.now,
        )
        return str(approval.id), nonce

    def count_gaps(self) -> int:
        """Return how many numbers are missing in all series together."""
        given = Document.objects.filter(series__isnull=False).count()
        last = NumberSeries.objects.aggregate(total=Sum("last_value"))["total"]
        return int(last) - given

    def _connect(self, number: int) -> tuple[Connection, str]:
        request = ConnectionRequest(
            user=self._user, scopes=registry.scopes, days=1, name=f"Agent {number}"
        )
        return create_connection(request)
