"""The verifier: an untouched package passes, and each forgery by SQL in a copy is found."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from django.db.models import F, Model
from django.utils import timezone

from agent_access.approvals.models import ApprovalRequest
from agent_access.audit import OPERATOR, record_act
from agent_access.evidence.verify_evidence import verify
from agent_access.facts import fingerprint_of
from agent_access.models import AuditEvent, ChainHead, Receipt
from agent_access.models.audit import ADMINISTRATION
from agent_access.passkeys.challenges import challenge_bytes, make_challenge
from agent_access.passkeys.keeping import NewPasskey, add_by_link, make_link
from agent_access.passkeys.models import Passkey, Signature
from agent_access.verification import read_heads
from invoicing.models import Document, Line
from tests.agent_access.tampering import rewrite_chain, without_triggers
from tests.approvals import digest_issued
from tests.evidence.authenticator import MAKERS, make_es256
from tests.evidence.books import Books
from tests.evidence.packages import read_files, read_part, write_with_manifest
from tests.passkeys import SoftPasskey

pytestmark = pytest.mark.sqlite  # what is read here asks no database


APPS = ("agent_access", "agent_approvals", "agent_passkeys", "invoices")
ANOTHER_ID = UUID("0190f1f0-0000-7000-8000-000000000000")


@contextmanager
def as_an_administrator() -> Iterator[None]:
    """Drop every trigger, as somebody with the database's password could."""
    with ExitStack() as stack:
        for label in APPS:
            stack.enter_context(without_triggers(label))
        yield


def change(model: type[Model], /, where: dict[str, Any], **values: Any) -> None:
    with as_an_administrator():
        assert model._base_manager.filter(**where).update(**values) == 1


def remove(model: type[Model], **where: Any) -> None:
    with as_an_administrator():
        found = model._base_manager.filter(**where)
        assert found._raw_delete(found.db) == 1


def numbered(place: int) -> Document:
    return Document.objects.get(series_value=place)


def event_of(action: str, place: int = 0) -> AuditEvent:
    return AuditEvent.objects.filter(action=action).order_by("sequence")[place]


def approval_of(place: int) -> ApprovalRequest:
    return ApprovalRequest.objects.get(target=numbered(place).pk)


def test_an_untouched_package_passes(books, export, check):
    assert check(export()) == []


@pytest.fixture(params=MAKERS)
def signed(request, agent, delegate, customer, draft_body):
    """A signed approval, by a key of each algorithm."""
    books = Books(agent, delegate, customer, draft_body, MAKERS[request.param]())
    books.issue_by_agent(is_signed=True)


def test_a_signature_of_each_algorithm_is_verified(signed, export, check):
    assert check(export()) == []

    kept = Signature.objects.get()
    changed = kept.challenge.replace('"random":"', '"random":"0')
    change(Signature, {"pk": kept.pk}, challenge=changed)
    assert check(export("forged.zip")) == [f"signature {kept.pk}: it is over another challenge"]


def told(place: int) -> str:
    """Return how the report calls the invoice at this place of its series."""
    document = numbered(place)
    return f"{document.number} ({document.pk})"


def test_a_changed_amount_is_found(books, export, check):
    change(Document, {"series_value": 3}, grand_total=F("grand_total") - 1, tax_total=268)
    change(Document, {"series_value": 5}, grand_total=F("grand_total") - 1, net_total=9999)
    assert check(export()) == [
        f"{told(3)}: it is not what its event says was frozen",
        f"{told(3)}: it is not what was approved",
        f"{told(5)}: it is not what its event says was frozen",
    ]


def test_a_changed_line_is_found(books, export, check):
    change(Line, {"document__series_value": 4, "position": 0}, description="Consulting elsewhere")
    assert check(export()) == [
        f"{told(4)}: it is not what its event says was frozen",
        f"{told(4)}: it is not what was approved",
    ]


def test_a_removed_event_is_found(books, export, check):
    event = event_of("documents.issue")
    remove(AuditEvent, pk=event.pk)
    assert check(export()) == [
        f"{event.chain} {event.sequence}: an event is missing here",
        f"approval {approval_of(3).pk}: it was executed 0 times, by what the events tell",
        f"{told(3)}: no event keeps how it was given",
    ]


def test_the_last_event_removed_is_found(books, export, check):
    chain = event_of("documents.issue").chain
    event = AuditEvent.objects.filter(chain=chain).order_by("-sequence")[0]
    remove(AuditEvent, pk=event.pk)
    assert f"{chain}: its head is not at its last event" in check(export())


def test_swapped_events_are_found(books, export, check):
    first, second = event_of("approval:approved", 0), event_of("approval:approved", 1)
    for event, sequence in ((first, 99), (second, first.sequence), (first, second.sequence)):
        change(AuditEvent, {"pk": event.pk}, sequence=sequence)
    broken = "this event was changed or moved, or follows one that was"
    assert check(export()) == [f"{first.chain} {first.sequence}: {broken}"]


def test_a_digest_taken_out_of_an_event_is_found(books, export, check):
    event = event_of("documents.issue")
    change(AuditEvent, {"pk": event.pk}, content_digest=None)
    rewrite_chain(event.chain)
    assert check(export()) == [
        f"approval {approval_of(3).pk}: it was executed 0 times, by what the events tell",
        f"{told(3)}: no event keeps how it was given",
    ]


def test_an_approval_of_something_else_is_found(books, export, check):
    """What was approved once is put in the place of what was executed."""
    other, executed = approval_of(4), approval_of(3)
    forged = {name: getattr(other, name) for name in ("facts", "fingerprint")}
    change(ApprovalRequest, {"pk": executed.pk}, **forged)
    assert check(export()) == [
        f"approval {executed.pk}: it is not what was approved",
        f"{told(3)}: it is not what was approved",
    ]


def test_an_approval_with_other_facts_is_found(books, export, check):
    facts = approval_of(3).facts.replace("Acme Ltd", "Acme Inc")
    change(ApprovalRequest, {"target": numbered(3).pk}, facts=facts)
    assert check(export()) == [
        f"approval {approval_of(3).pk}: its facts are not those of its fingerprint",
        f"{told(3)}: it is not what was approved",
    ]


def test_another_approver_is_found(books, export, check, colleague):
    change(ApprovalRequest, {"target": numbered(3).pk}, delegated_user=colleague)
    found = f"approval {approval_of(3).pk}: another person or connection is in its event"
    assert check(export()) == [found]


def test_an_approval_that_nobody_gave_is_found(books, export, check):
    """A request is prepared, and approved and executed by SQL alone, with its invoice."""
    number = books.issue_by_agent()
    for action in ("approval:approved", "documents.issue"):
        remove(AuditEvent, pk=event_of(action, 2).pk)
    chain = event_of("approval:approved").chain
    close_gaps(chain)
    rewrite_chain(chain)
    assert check(export()) == [
        f"approval {number.pk}: an event and its decision contradict each other",
        f"{told(7)}: no event keeps how it was given",
    ]


def close_gaps(chain: str) -> None:
    with as_an_administrator():
        events = AuditEvent.objects.filter(chain=chain).order_by("sequence")
        for place, event in enumerate(events, start=1):
            AuditEvent.objects.filter(pk=event.pk).update(sequence=place)


def test_another_signature_is_found(books, export, check):
    """A signature of the same person, over an approval that they did sign."""
    again = books.issue_by_agent(is_signed=True, reference="PO 9")
    first, second = Signature.objects.filter(purpose="approve").order_by("pk")
    columns = ("challenge", "client_data", "authenticator_data", "signature", "facts")
    forged = {name: getattr(first, name) for name in (*columns, "fingerprint")}
    change(Signature, {"pk": second.pk}, **forged)
    found = "it is for other facts, or another demand, than the approval's"
    assert check(export()) == [f"signature {second.pk}: {found}"]

    change(Signature, {"pk": second.pk}, facts=second.facts, fingerprint=second.fingerprint)
    found = "what was signed is not this act of this person"
    assert check(export("again.zip")) == [f"signature {second.pk}: {found}"]
    assert again.pk == second.record_id


def test_a_replaced_key_is_found(books, export, check):
    """Somebody signs with a key of their own, and puts it in the place of the person's."""
    key = make_es256()
    change(Passkey, {}, public_key=key.public_key)
    for kept in Signature.objects.all():
        forged = key.sign(kept.challenge, origin=kept.origin, rp_id=kept.relying_party)
        change(Signature, {"pk": kept.pk}, **forged)
    assert check(export()) == [
        f"passkey {books.passkey.pk}: no event tells that this person added this key"
    ]


def test_a_passkey_that_was_added_by_a_link_and_its_removal_are_no_problem(
    books, export, check, colleague
):
    for name in ("Phone", "Another phone"):
        link = make_link(OPERATOR, colleague, maker=None)
        challenge = make_challenge("recover", session="a" * 64, person=colleague)
        made = SoftPasskey().register(challenge_bytes(challenge))
        new = NewPasskey(registration=made, name=name, is_apart=False)
        add_by_link(OPERATOR, new, session="a" * 64, link=link)
    assert Passkey.objects.filter(person=colleague).count() == 2
    assert check(export()) == []


def test_a_key_of_somebody_else_is_found(books, export, check, colleague):
    change(Passkey, {}, person=colleague)
    first, second = Signature.objects.order_by("pk")
    found = "it was not made with the key of the passkey that it names"
    assert check(export()) == [
        f"passkey {books.passkey.pk}: no event tells that this person added this key",
        *(f"signature {each.pk}: {found}" for each in (first, second)),
    ]


@pytest.mark.parametrize(
    ("changed", "flaw"),
    [
        ({"flags": 0b1}, "the person was not verified"),
        ({"flags": 0b100}, "the person was not verified"),
        ({"rp_id": "halden.example"}, "it was made for another site"),
        ({"origin": "https://evil.example"}, "it was made on another site"),
        (
            {"type": "webauthn.create"},
            "it was made for something else, or in a frame of another site",
        ),
        ({"crossOrigin": True}, "it was made for something else, or in a frame of another site"),
        ({"challenge": "AAAA"}, "it is over another challenge"),
    ],
    ids=str,
)
def test_a_signature_that_no_service_takes_is_found(books, export, check, changed, flaw):
    kept = Signature.objects.get(purpose="approve")
    asked = {"origin": kept.origin, "rp_id": kept.relying_party} | changed
    change(Signature, {"pk": kept.pk}, **books.key.sign(kept.challenge, **asked))
    assert check(export()) == [f"signature {kept.pk}: {flaw}"]


def test_a_signature_of_another_key_does_not_hold(books, export, check):
    kept = Signature.objects.get(purpose="approve")
    asked: dict[str, Any] = {"origin": kept.origin, "rp_id": kept.relying_party}
    other = make_es256().sign(kept.challenge, **asked)
    change(Signature, {"pk": kept.pk}, signature=other["signature"])
    assert check(export()) == [f"signature {kept.pk}: the signature does not hold"]


def test_a_signature_before_its_passkey_is_found(books, export, check):
    kept = Signature.objects.get(purpose="approve")
    change(Passkey, {}, removed_at=kept.signed_at)
    later = Signature.objects.get(purpose="do")
    found = "its passkey did not exist when it was made"
    assert check(export()) == [f"signature {later.pk}: {found}"]


def test_a_signature_that_is_gone_is_found(books, export, check):
    pk = Signature.objects.get(purpose="approve").record_id
    remove(Signature, record_id=pk)
    assert check(export()) == [f"approval {pk}: a signature was demanded, and there is none"]


def test_a_signature_gone_with_its_demand_is_found(books, export, check):
    earlier, pk = export("earlier.zip"), Signature.objects.get(purpose="approve").record_id
    remove(Signature, record_id=pk)
    change(ApprovalRequest, {"pk": pk}, demand="")
    found = [f"approval {pk}: it is not what was approved"]
    assert check(export()) == found
    gone = f"record {pk}: its signature of the earlier package is gone"
    assert sorted(check(export("again.zip"), earlier=earlier)) == sorted([*found, gone])


def test_a_signature_by_hand_that_is_gone_is_found(books, export, check):
    pk = Signature.objects.get(purpose="do").record_id
    remove(Signature, record_id=pk)
    found = f"record {pk}: it was signed by hand, and no such signature is there"
    assert check(export()) == [found]


def test_a_demand_of_a_signature_by_hand_that_was_changed_is_found(books, export, check):
    kept = Signature.objects.get(purpose="do")
    change(Signature, {"pk": kept.pk}, demand='{"apart":false,"by":["value"]}')
    found = f"record {kept.record_id}: it was signed by hand, and no such signature is there"
    assert check(export()) == [found]


def test_a_removed_passkey_that_came_back_is_found(books, export, check):
    """Whoever stole a phone gets its passkey accepted once more, and signs with it."""
    passkey = books.passkey
    told = {"target": str(books.person.pk), "detail": str(passkey.pk)}
    with transaction.atomic():
        record_act("passkey:removed", OPERATOR, **told, content_digest=books.key.digest)
    books.issue_alone(is_signed=True)
    later = Signature.objects.latest("pk")
    assert check(export()) == [
        f"passkey {passkey.pk}: it was removed, by its event",
        f"signature {later.pk}: its passkey did not exist when it was made",
    ]


def test_a_signature_before_the_event_of_its_passkey_is_found(books, export, check, time_machine):
    """A passkey that was just added is made to look older, so that it can sign at once."""
    first = Signature.objects.earliest("pk")
    event = event_of("passkey:added")
    change(AuditEvent, {"pk": event.pk}, occurred_at=first.signed_at + timedelta(seconds=1))
    rewrite_chain(ADMINISTRATION)
    found = f"signature {first.pk}: its passkey did not exist when it was made"
    assert found in check(export())


def test_a_manifest_that_hides_what_was_numbered_is_found(books, export, check, tmp_path):
    """The numbers are told of as something else, and one of them is changed."""
    files = read_files(export())
    manifest = json.loads(files["manifest.json"])
    for told_of in manifest["files"]:
        for name in ("is_numbered", "acts", "unfrozen"):
            told_of.pop(name, None)
    files["manifest.json"] = json.dumps(manifest).encode()
    files["documents.jsonl"] = files["documents.jsonl"].replace(b"Acme Ltd", b"Acme Inc")
    problems = check(write_with_manifest(tmp_path / "forged.zip", files))
    event = event_of("document:issued")
    place = f"{ADMINISTRATION} {event.sequence}"
    assert f"{place}: it made a record, of which no file tells" in problems


def test_heads_that_name_no_chain_are_refused(books, export, tmp_path):
    heads = tmp_path / "heads.txt"
    heads.write_text("")
    report, code = verify(str(export()), None, str(heads))
    assert code == 1
    assert "the heads that were kept name no chain" in report


def test_a_demand_that_is_gone_is_found(books, export, check):
    change(ApprovalRequest, {"target": numbered(3).pk}, demand=None)
    found = "what had to be signed was taken out of it"
    assert check(export()) == [f"approval {approval_of(3).pk}: {found}"]


def test_what_a_signature_by_hand_was_not_for_is_found(books, export, check):
    """Facts, number and event are forged together, and the signature alone is left."""
    change(Document, {"series_value": 6}, reference="Another")
    document, event = numbered(6), event_of("document:issued", 2)
    change(AuditEvent, {"pk": event.pk}, content_digest=digest_issued(document.pk))
    rewrite_chain(ADMINISTRATION)
    assert check(export()) == [f"{told(6)}: it is not what was signed"]


def test_a_renumbered_invoice_is_found(books, export, check):
    change(Document, {"series_value": 4}, number="INV-2026-0300")
    assert check(export()) == [f"{told(4)}: it is not what its event says was frozen"]


def test_swapped_numbers_are_found(books, export, check):
    second, third = numbered(3), numbered(4)
    change(Document, {"pk": second.pk}, series_value=99, number="X")
    change(Document, {"pk": third.pk}, series_value=3, number=second.number)
    change(Document, {"pk": second.pk}, series_value=4, number=third.number)
    frozen = "it is not what its event says was frozen"
    assert check(export()) == [f"{told(4)}: {frozen}", f"{told(3)}: {frozen}"]


def test_a_removed_invoice_is_found(books, export, check):
    between, last = numbered(5), numbered(6)
    remove_invoice(between)
    missing = "an event made it, and it is missing"
    assert check(export()) == [
        "INV-2026-0001 to INV-2026-0006: 1 numbers are missing",
        f"record {between.pk}: {missing}",
    ]
    # Of the last one there is no gap.
    remove_invoice(last)
    again = check(export("again.zip"))
    assert sorted(again) == sorted(f"record {each.pk}: {missing}" for each in (between, last))


def remove_invoice(document: Document) -> None:
    with as_an_administrator():
        for related in (document.lines.all(), document.tax_rows.all()):
            related._raw_delete(related.db)
    remove(Document, pk=document.pk)


def test_an_invoice_that_nobody_made_is_found(books, export, check):
    """It takes the next number, as if the service had issued it, and no event tells of it."""
    document = numbered(5)
    document.pk, document.number, document.series_value = ANOTHER_ID, "INV-2026-0007", 7
    document.draft_code = "D-FORGED"
    with as_an_administrator():
        document.save(force_insert=True)
    assert check(export()) == [f"{told(7)}: no event keeps how it was given"]


def test_the_number_of_another_is_found(books, export, check):
    document = numbered(5)
    document.pk, document.number, document.series_value = ANOTHER_ID, "INV-2026-0009", 9
    document.draft_code = "D-FORGED"
    with as_an_administrator():
        document.save(force_insert=True)
    assert check(export()) == [
        f"{told(9)}: no event keeps how it was given",
        "INV-2026-0001 to INV-2026-0009: 2 numbers are missing",
    ]


def rewrite_history() -> None:
    """Forge an invoice and all that tells of it, so that the package agrees with itself."""
    change(Document, {"series_value": 5}, reference="Another")
    document, event = numbered(5), event_of("document:issued", 1)
    change(AuditEvent, {"pk": event.pk}, content_digest=digest_issued(document.pk))
    rewrite_chain(ADMINISTRATION)


def test_a_whole_chain_rewritten_is_found_by_what_was_kept_outside(books, export, check, tmp_path):
    earlier, heads = export("earlier.zip"), tmp_path / "heads.txt"
    kept = read_heads()
    lines = (f"{chain} {head.sequence} {head.digest}\n" for chain, head in kept.items())
    heads.write_text("".join(lines))
    first = ChainHead.objects.get(chain=ADMINISTRATION).sequence
    rewrite_history()

    forged = export()
    assert check(forged) == []
    place = f"{ADMINISTRATION} {kept[ADMINISTRATION].sequence}"
    rewritten = f"{place}: the chain was rewritten: it is not that of the heads that were kept"
    assert check(forged, heads=heads) == [rewritten]
    assert len(check(forged, earlier=earlier)) == 2
    assert f"{told(5)}: it is not that of the earlier package" in check(forged, earlier=earlier)
    assert first > 0


def test_a_chain_cut_short_is_found_by_what_was_kept_outside(books, export, check):
    earlier = export("earlier.zip")
    events = AuditEvent.objects.filter(chain=ADMINISTRATION).order_by("-sequence")
    for event in list(events[:3]):
        remove(AuditEvent, pk=event.pk)
    rewrite_chain(ADMINISTRATION)
    [found] = [each for each in check(export(), earlier=earlier) if "knew" in each]
    assert found.startswith(f"{ADMINISTRATION} ")


def test_what_came_since_agrees_with_what_was_kept_outside(books, export, check):
    earlier = export("earlier.zip")
    books.issue_by_agent(is_signed=True)
    books.issue_alone()
    assert check(export(), earlier=earlier) == []


def test_what_came_since_agrees_though_its_clock_was_behind(books, export, check, time_machine):
    earlier = export("earlier.zip")
    time_machine.move_to(timezone.now() - timedelta(seconds=30))
    books.issue_alone()
    assert check(export(), earlier=earlier) == []


def test_an_invoice_put_before_an_earlier_package_is_found(books, export, check):
    """Dated back to before digests were kept, it would pass for one of then."""
    earlier = export("earlier.zip")
    document = numbered(1)
    document.pk, document.number, document.series_value = ANOTHER_ID, "INV-2026-0007", 7
    document.draft_code = "D-FORGED"
    with as_an_administrator():
        document.save(force_insert=True)
    assert check(export()) == []
    found = f"{told(7)}: the earlier package, made after it, has it not"
    assert check(export("again.zip"), earlier=earlier) == [found]


def test_a_receipt_is_in_it_without_its_answer(books, export):
    kept = read_part(export(), "receipts.jsonl")
    assert [row["key"] for row in kept] == list(
        Receipt.objects.order_by("id").values_list("key", flat=True)
    )
    answers = {row["id"]: row["answer_digest"] for row in kept}
    assert answers == {str(each.pk): fingerprint_of(each.answer) for each in Receipt.objects.all()}
    assert not any("answer" in row for row in kept)


def test_what_was_done_before_digests_were_kept_is_counted_and_no_problem(books, export, report_of):
    with as_an_administrator():
        signatures = Signature.objects.all()
        signatures._raw_delete(signatures.db)
        ApprovalRequest.objects.update(demand=None)
        AuditEvent.objects.exclude(action="passkey:added").update(content_digest=None)
    for chain in read_heads():
        rewrite_chain(chain)
    report, code = report_of(export())
    assert code == 0, report
    assert "2 approved, 2 executed, 2 from before this release." in report
    assert "by how they were given: 6 from before this release." in report
