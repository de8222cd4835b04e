"""No text of a person or an agent hides a character, turns what stands beside it, or is markup."""

import re
from html import unescape

import pytest

from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.switches import turn_access
from invoicing.access import Permission
from invoicing.models import Company, Customer, Document, TaxRate
from tests.approvals import prepare
from tests.draft_fields import HEADER_TEXTS
from tests.factories import (
    TeamFactory,
    UserFactory,
    line_input,
    make_connection_ref,
    make_draft,
    make_issued,
)
from tests.web.disguises import EVIL, HIDDEN, without_typed_values

pytestmark = pytest.mark.sqlite  # a page is the same on both databases


SHOWN = re.compile(
    r'0001 &lt;b&gt; <span class="invisible" title="An invisible character">U\+202E</span>eman'
    r'<span class="invisible" title="An invisible character">U\+200B</span>'
)


@pytest.fixture
def person(company):
    """Somebody who, as everything around them, has a name that deceives."""
    person = UserFactory.create(
        name=EVIL, job_title=EVIL, time_zone=EVIL, permissions=tuple(Permission)
    )
    person.skills.create(name=EVIL)
    TeamFactory.create(name=EVIL, members=[person], leads=[person])
    texts = {"name": EVIL, "street": EVIL, "city": EVIL, "vat_number": EVIL[:20]}
    Company.objects.update(**texts)
    return person


@pytest.fixture
def evil(person):
    customer = Customer.objects.create(
        name=EVIL, street=EVIL, city=EVIL, vat_number=EVIL[:20], country=f"{HIDDEN}D"
    )
    customer.account_managers.add(person)
    rate = TaxRate.objects.create(name=EVIL, percentage_ten_thousandths=190_000)
    line = line_input(description=f"{EVIL}\n{EVIL}", unit=EVIL[:20], tax_rate_id=rate.id)
    return {
        "user": person,
        "customer": customer,
        "lines": (line,),
        **dict.fromkeys(HEADER_TEXTS, EVIL),
        "notes": f"{EVIL}\n{EVIL}",
        "connection": make_connection_ref(EVIL),
    }


def pages_about(evil):
    draft, issued = make_draft(**evil), make_issued(**evil)
    rejected = prepare(draft, user=evil["user"], connection=evil["connection"])
    rejected.decide(Decision.REJECTED, reason=EVIL)
    stale = prepare(make_draft(**evil), user=evil["user"], connection=evil["connection"])
    stale_draft = Document.objects.get(pk=stale.approval.target)
    Document.objects.filter(pk=stale_draft.pk).update(reference=f"{EVIL}{HIDDEN}", lock_version=2)
    prepare(draft, user=evil["user"], connection=evil["connection"])
    return [
        *(f"/approvals/{pk}" for pk in ApprovalRequest.objects.values_list("pk", flat=True)),
        f"/documents/{draft.pk}",
        f"/documents/{draft.pk}/edit",
        f"/documents/{draft.pk}/issue",
        f"/documents/{issued.pk}",
        "/documents",
        "/documents/new",
        "/documents?search=x%E2%80%AE",
        f"/documents?customer={evil['customer'].pk}&writer={evil['user'].pk}",
        f"/documents?find_customer=x%E2%80%AE&writer={evil['connection'].connection_id}",
        f"/exports?customer={evil['customer'].pk}&writer={evil['user'].pk}",
        "/",
        "/approvals",
        "/customers",
        "/customers?search=x%E2%80%AE",
        f"/customers/{evil['customer'].pk}",
        f"/customers/{evil['customer'].pk}/edit",
        "/people",
        "/people?search=x%E2%80%AE",
        f"/people/{evil['user'].pk}",
        "/account",
    ]


@pytest.mark.usefixtures("clock")
def test_every_page_names_what_hides_keeps_it_to_itself_and_makes_no_markup_of_it(sign_in, evil):
    turn_access(on=True)
    browser = sign_in(evil["user"])
    for path in pages_about(evil):
        page = browser.get(path).content.decode()
        shown = without_typed_values(page)
        assert HIDDEN not in unescape(shown), path
        assert "<b>" not in page, path
        assert "U+202E" in shown, path
        # A marker stands inside an isolated text, or in a place that holds no markup.
        for element in re.findall(r"<(\w+)[^>]*>[^<]*<span class=\"invisible\"", shown):
            assert element in {"bdi", "span"}, path


@pytest.mark.usefixtures("clock")
def test_the_review_page_shows_the_text_around_them_as_it_was_typed(sign_in, evil):
    prepared = prepare(make_draft(**evil), user=evil["user"], connection=evil["connection"])
    page = sign_in(evil["user"]).get(f"/approvals/{prepared.approval.pk}").content.decode()

    assert f"by the agent <strong><bdi>{SHOWN.search(page)[0]}</bdi></strong> on" in page  # type: ignore[index]  # it is there
    line = f"<bdi>{SHOWN.search(page)[0]}</bdi>"  # type: ignore[index]  # as above
    assert f'<td class="text">{line}<br>{line}</td>' in page


def test_a_form_gives_a_text_back_as_it_was_typed(sign_in, evil):
    draft = make_draft(**evil)
    page = sign_in(evil["user"]).get(f"/documents/{draft.pk}/edit").content.decode()

    assert f'value="{EVIL.replace("<", "&lt;").replace(">", "&gt;")}"' in page
    assert 'name="reference"' in page
    assert page.count('dir="auto"') >= 4
