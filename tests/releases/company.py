"""A company that has everything, made by the code of the release of which it is kept.

`tests.releases.make` runs it, also in the folder of an older commit: so it uses what the tests of
all those have, and leaves out what a release has not. What was promised to the people and agents of
that release is printed as a JSON object, which `tests.releases.kept` reads.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.test import override_settings
from django.utils import timezone

from agent_access.audit import SYSTEM
from agent_access.connections import ConnectionRequest, create_connection, revoke_connection
from agent_access.models import Connection, RevokedReason
from agent_access.switches import turn_access, turn_sign_in
from agent_access.tools import registry
from invoicing.access import Permission
from invoicing.decisions import issue_by_hand
from invoicing.models import Customer, Document, TaxRate, User
from invoicing.sample_company.loading import BOOKKEEPER, OWNER, load_sample_company
from tests import factories
from tests.agents import Answer, HttpAgent
from tests.approvals import fingerprint_draft
from tests.oauth.programs import Browser, Machine, Program, parameters_of
from tests.tool_table import SCOPES

SAMPLE_DOCUMENTS = 24
DAYS = 30
REFUSED = 400  # the first status of a refusal
SEE_OTHER = 302
CSV = "name;street;postcode;city;country\nImported {};Mill Lane 7;1011 AB;Amsterdam;NL"


def print_company(evidence: str, *, goes_on: bool = False) -> None:
    """Fill the migrated database, and write a package of evidence where the release has one.

    With `goes_on`, do all that once more in a database that was filled before.
    """
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with override_settings(
        STORAGES={**settings.STORAGES, "staticfiles": plain},
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    ):
        if not goes_on:
            load_sample_company(password=factories.PASSWORD, documents=SAMPLE_DOCUMENTS)
        print(json.dumps(fill_database(Path(evidence)), indent=1))  # noqa: T201  read by make


def fill_database(evidence: Path) -> dict[str, Any]:
    """Return what was promised."""
    cast = find_cast()
    agents, tokens = connect(cast)
    told = fill_approvals(agents, cast)
    fill_books(cast)
    told |= fill_signed(agents["pasted"], cast)
    originals = fill_originals()
    fill_imports(cast)
    fill_notifications(cast, agents["pasted"])
    return {
        "credentials": {name: agent.credential for name, agent in agents.items()},
        "tokens": tokens,
        "calls": [call for agent in agents.values() for call in agent.calls],
        "approvals": told,
        "originals": originals,
        "documents": read_documents(agents["pasted"]),
        "heads": take_evidence(evidence),
        "made_at": timezone.now().isoformat(),
    }


@dataclass
class Agent:
    """An agent of which each write is kept with its answer."""

    name: str
    credential: str | None
    calls: list[dict[str, Any]] = field(default_factory=list)

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        id: Any = None,  # noqa: A002  the interface's word
        key: str | None = None,
    ) -> Answer:
        answer = HttpAgent(self.credential).call(tool, arguments, id=id, key=key)
        if answer.status >= REFUSED:
            raise RuntimeError(f"{tool}: {answer.status} {answer.content!r}")
        if key is not None:
            asked = {"tool": tool, "arguments": arguments, "id": id and str(id), "key": key}
            got = {"status": answer.status, "content": base64.b64encode(answer.content).decode()}
            self.calls.append({"agent": self.name, **asked, **got})
        return answer


@dataclass(frozen=True)
class Cast:
    """Who acts in the company, and the draft that agents write."""

    owner: User
    person: User
    customer: Customer
    draft_body: dict[str, Any]


def find_cast() -> Cast:
    """Return who acts in the sample company, whose bookkeeper may do everything."""
    person = User.objects.get(email=BOOKKEEPER)
    factories.grant(person, *Permission)
    customer = Customer.objects.filter(country="DE", is_active=True).order_by("name")[0]
    rate = TaxRate.objects.order_by("-percentage_ten_thousandths")[0]
    line = {
        "description": "Consulting “on site”",
        "quantity": "1.5",
        "unit": "h",
        "unit_price": "12500",
        "tax_rate_id": str(rate.pk),
    }
    draft_body = {
        "customer_id": str(customer.pk),
        "currency_code": "EUR",
        "issue_date": "2026-11-02",
        "due_date": "2026-12-02",
        "line_items": [line],
    }
    return Cast(User.objects.get(email=OWNER), person, customer, draft_body)


def connect(cast: Cast) -> tuple[dict[str, Agent], dict[str, str]]:
    """Return agents with a credential, an ended one and a token, and what goes with the token."""
    turn_access(on=True)
    turn_sign_in(on=True)
    agents = {}
    for name in ("pasted", "ended"):
        asked = ConnectionRequest(user=cast.person, scopes=registry.scopes, days=DAYS, name=name)
        agents[name] = Agent(name, create_connection(asked)[1])
    agents["ended"].call("drafts.create", cast.draft_body, key="draft")
    ended = Connection.objects.get(name="ended")
    revoke_connection(ended.pk, reason=RevokedReason.OWNER_REVOKED)
    tokens = sign_in(cast)
    return agents | {"signed in": Agent("signed in", tokens["access_token"])}, tokens


def sign_in(cast: Cast) -> dict[str, str]:
    """Return what a program holds that was allowed in a browser, after one rotation."""
    factories.give_password(cast.owner)
    program, browser = Program(), Browser(cast.owner)
    asked = {"redirect_uris": [program.return_address], "client_name": "Ledger agent"}
    program.client_id = Machine().post_json("/oauth/register", asked).body["client_id"]
    path = program.authorize_path(scope=" ".join(SCOPES))
    allowed = browser.allow(path, cast.person, scopes=SCOPES, days=DAYS)
    pair = program.exchange(parameters_of(allowed)["code"]).body
    pair = program.refresh(pair["refresh_token"]).body
    held = {name: pair[name] for name in ("access_token", "refresh_token")}
    return {"client_id": program.client_id, **held}


def ask(agent: Agent, cast: Cast, name: str, **changes: Any) -> Any:
    """Have a draft written and prepared; return what the agent is told."""
    draft = agent.call("drafts.create", cast.draft_body | changes, key=f"create-{name}").data
    version = {"lock_version": draft["lock_version"]}
    key = f"prepare-{name}"
    return agent.call("documents.issue_prepare", version, id=draft["id"], key=key).data


def execute(agent: Agent, told: Any, name: str) -> None:
    nonce = {"nonce": told["nonce"]}
    agent.call("documents.issue", nonce, id=told["approval_id"], key=f"execute-{name}")


def decide(desk: Browser, told: Any, decision: str = "approve") -> None:
    """Decide on the page of the request, about what it shows."""
    page = f"/approvals/{told['approval_id']}"
    shown = re.search(r'name="fingerprint" value="(.+?)"', desk.open(page).content.decode())
    assert shown
    form = {"decision": decision, "fingerprint": shown[1], "reason": "As seen."}
    answer = desk.send(page, form)
    assert answer.status_code == SEE_OTHER, answer.content


def fill_approvals(agents: Mapping[str, Agent], cast: Cast) -> dict[str, Any]:
    """Return what agents were told of a request in each state, by its name."""
    states = ("pending", "approved", "rejected", "executed")
    told = {name: ask(agents["pasted"], cast, name, reference="PO “Zoë”") for name in states}
    told["by-token"] = ask(agents["signed in"], cast, "by-token", notes="Für \U0001f980")
    desk = Browser(cast.person)
    for name in ("approved", "executed", "by-token"):
        decide(desk, told[name])
    decide(desk, told["rejected"], "reject")
    execute(agents["pasted"], told["executed"], "executed")
    execute(agents["signed in"], told["by-token"], "by-token")
    return told


def fill_books(cast: Cast) -> None:
    """Write a draft, issue an invoice by hand, and correct it, once issued and once not."""
    factories.make_draft(user=cast.person, customer=cast.customer)
    invoice = factories.make_draft(user=cast.person, customer=cast.customer)
    issue_alone(cast, invoice)
    if hasattr(factories, "make_correction"):
        issue_alone(cast, factories.make_correction(invoice, 5_000, user=cast.person))
        factories.make_correction(invoice, user=cast.person)


def issue_alone(cast: Cast, draft: Document) -> None:
    shown = fingerprint_draft(draft)
    issue_by_hand(cast.person, draft.pk, fingerprint=shown, origin=SYSTEM)


def has(module: str) -> bool:
    """Return whether the release has a module; the package around it must be there."""
    return find_spec(module) is not None


def fill_signed(agent: Agent, cast: Cast) -> dict[str, Any]:
    """Issue with a passkey, by an agent and by hand; one request stays signed and not executed."""
    if not has("agent_access.passkeys"):
        return {}
    from tests.evidence.books import Books  # noqa: PLC0415  not in every release
    from tests.signing import demand  # noqa: PLC0415  the same

    books = Books(agent, cast.person, cast.customer, cast.draft_body)  # type: ignore[arg-type]  # calls as one
    books.issue_by_agent(is_signed=True, reference="Signed")
    books.issue_alone(is_signed=True)
    told = ask(agent, cast, "signed")
    books.approve(told["approval_id"], is_signed=True)
    demand(always=False)
    return {"signed": told}


def fill_originals() -> dict[str, str]:
    """Keep the newest PDF and every e-invoice that can be; return digests by document and kind."""
    if not has("invoicing.originals"):
        return {}
    from invoicing.e_invoices.writing import FactsMissingError  # noqa: PLC0415  not in every release
    from invoicing.models import Original, OriginalKind  # noqa: PLC0415  the same
    from invoicing.originals.keeping import original_of  # noqa: PLC0415  the same

    issued = Document.objects.filter(status="issued").order_by("-issued_at")
    original_of(issued[0], OriginalKind.PDF)
    for document in issued:
        for kind in OriginalKind:
            if kind != OriginalKind.PDF:
                try:
                    original_of(document, kind)
                except FactsMissingError:
                    continue
    kept = Original.objects.order_by("document_id", "kind")
    return {
        f"{row.document_id} {row.kind}": hashlib.sha256(row.content).hexdigest() for row in kept
    }


def fill_imports(cast: Cast) -> None:
    """Import a customer from a file, and let another file wait."""
    if not has("invoicing.customer_imports"):
        return
    from tests.invoicing.customer_imports import imports  # noqa: PLC0415  not in every release

    cast.person.refresh_from_db()
    imports.run(cast.person, *CSV.format(1).splitlines())
    imports.upload(cast.person, *CSV.format(2).splitlines())


def fill_notifications(cast: Cast, agent: Agent) -> None:
    """Let the person be told of a request by mail, and not yet of another."""
    if not has("agent_access.telling"):
        return
    from agent_access.telling.outbox import settle_all  # noqa: PLC0415  not in every release
    from agent_access.telling.preferences import save_preferences  # noqa: PLC0415  the same

    save_preferences(cast.person, by_mail=True, shows_details=False)
    ask(agent, cast, "told", reference="Told")
    settle_all(now=timezone.now())
    ask(agent, cast, "not-yet-told", reference="Not yet told")


def read_documents(agent: Agent) -> dict[str, Any]:
    """Return what the agent reads of every document, by ID."""
    ids = map(str, Document.objects.order_by("pk").values_list("pk", flat=True))
    return {pk: agent.call("documents.get", id=pk).data for pk in ids}


def take_evidence(file: Path) -> str:
    """Return the heads of the audit; write a package of evidence if the release makes them."""
    if has("agent_access.evidence"):
        call_command("export_evidence", str(file), stdout=StringIO())
    heads = StringIO()
    call_command("verify_audit", stdout=heads)
    return heads.getvalue()
