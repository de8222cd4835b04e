"""What tax rates, and lines without one, mean in the law of VAT, as administrators choose it."""

import pytest
from django.conf import settings
from django.db import transaction

from invoicing.errors import ConflictError
from invoicing.models import TaxCategory, TaxRate
from invoicing.services.taxes import change_tax_rate
from invoicing.tax_wordings import NAMES, WORDINGS
from tests.admin.forms import add_url_of, assert_saved, form_of, refused, save, url_of
from tests.administration import acts_written, make_administrator
from tests.factories import CompanyFactory, TaxRateFactory, line_input, make_issued
from tests.snapshots import take_snapshot
from tests.web.forms import main_of

pytestmark = pytest.mark.django_db

PAGE = "/admin/invoices/taxrate/meanings"
SERVICES = "reverse-charge-services"
PROPOSED = "The texts below are what we propose to print."


@pytest.fixture
def zero():
    return TaxRateFactory.create(name="EU services", percentage_ten_thousandths=0)


def texts_of(key: str) -> dict[str, str]:
    """Return the proposed texts of a wording as a form has them."""
    kinds = {"name": NAMES[WORDINGS[key].category], "reason": WORDINGS[key].reasons}
    return {
        f"{kind}_{code}": texts.get(code, "")
        for kind, texts in kinds.items()
        for code, _ in settings.DOCUMENT_LANGUAGES
    }


def choose(desk, rate, key: str) -> None:
    """Choose what a rate is, and take the proposed texts."""
    assert_saved(save(desk, rate, meaning=key, proposed=key, **texts_of(key)))
    rate.refresh_from_db()


@pytest.mark.sqlite  # a table of words
def test_every_category_and_wording_has_its_texts_in_every_language_of_documents():
    languages = {code for code, _ in settings.DOCUMENT_LANGUAGES}
    assert set(NAMES) == set(TaxCategory) == {each.category for each in WORDINGS.values()}
    for category, names in NAMES.items():
        assert set(names) == languages
        assert WORDINGS[category].category == category
    for key, wording in WORDINGS.items():
        is_free = wording.category not in {TaxCategory.STANDARD, TaxCategory.ZERO}
        assert set(wording.reasons) == (languages if is_free else set()), key
        texts = [*wording.reasons.values(), *NAMES[wording.category].values()]
        assert all(texts), key
        if wording.category == TaxCategory.REVERSE_CHARGE:
            mentions = NAMES[TaxCategory.REVERSE_CHARGE].items()
            assert all(mention in wording.reasons[code] for code, mention in mentions)
    reasons = [(each.category, *each.reasons.values()) for each in WORDINGS.values()]
    assert len(set(reasons)) == len(reasons)


def test_a_choice_is_shown_with_its_proposed_texts_before_it_is_saved(desk, zero):
    said = refused(lambda: save(desk, zero, meaning=SERVICES, name_en="Services"))
    [told] = said.pop("meaning")
    assert (told.startswith(PROPOSED), said) == (True, {})
    answer = desk.post(url_of(zero), form_of(desk.get(url_of(zero))) | {"meaning": SERVICES})
    shown = form_of(answer)
    assert {name: shown[name] for name in texts_of(SERVICES)} == texts_of(SERVICES)

    again = desk.post(url_of(zero), shown | {"meaning": "export", "name_en": "Services"})
    shown = form_of(again)
    assert {name: shown[name] for name in texts_of(SERVICES)} == {
        **texts_of("export"),
        "name_en": "Services",
    }
    assert_saved(desk.post(url_of(zero), shown))
    zero.refresh_from_db()
    assert (zero.category, zero.names["en"], zero.names["de"], zero.reasons) == (
        TaxCategory.EXPORT,
        "Services",
        "Ausfuhrlieferung",
        WORDINGS["export"].reasons,
    )


def test_the_first_category_changes_the_rate_itself_and_later_ones_make_another(desk, zero):
    choose(desk, zero, SERVICES)
    assert acts_written() == [("tax_rate:changed", str(zero.pk), "category, names, reasons")]
    texts = {"name_de": "Reverse Charge", "is_active": "on"}
    assert_saved(save(desk, zero, **texts))
    zero.refresh_from_db()
    successor = TaxRate.objects.get(is_active=True)
    assert (zero.is_active, zero.names["de"]) == (False, NAMES["AE"]["de"])
    assert (successor.category, successor.names, successor.reasons) == (
        "AE",
        {**NAMES["AE"], "de": "Reverse Charge"},
        zero.reasons,
    )
    assert_saved(save(desk, successor, name="Services in the EU"))
    third = TaxRate.objects.get(is_active=True)
    assert (third.names, third.reasons) == (successor.names, successor.reasons)


@pytest.mark.parametrize(
    ("percentage", "typed", "field", "told"),
    [
        ("0", {"meaning": "S"}, "meaning", "A rate of 0 percent is not taxed."),
        ("19", {"meaning": "Z"}, "meaning", "Only a rate of 0 percent fits this category."),
        ("0", {"meaning": ""}, "meaning", "Choose what the texts below are about."),
        ("0", {"meaning": "none"}, "meaning", "Select a valid choice."),
        ("0", {"reason_fr": ""}, "reason_fr", "The law requires a reason here."),
        ("0", {"name_de": "a\N{ZERO WIDTH NO-BREAK SPACE}\x07"}, "name_de", "Leave out control"),
        ("0", {"name_de": "n" * 101}, "name_de", "Ensure this value has at most 100"),
    ],
)
def test_a_category_that_does_not_fit_is_refused_where_it_was_chosen(
    desk, zero, percentage, typed, field, told
):
    chosen = {"meaning": SERVICES, "proposed": SERVICES, **texts_of(SERVICES)}
    said = refused(lambda: save(desk, zero, percentage=percentage, **chosen | typed))
    assert list(said) == [field]
    assert said[field][0].startswith(told)


def test_a_taxed_rate_needs_no_reason_and_takes_none(desk, tax_rate):
    chosen = {"meaning": "S", "proposed": "S", **texts_of("S")}
    said = refused(lambda: save(desk, tax_rate, **chosen | {"reason_en": "Because"}))
    assert said == {"reason_en": ["Leave this empty: only a rate without tax has a reason."]}
    assert_saved(save(desk, tax_rate, **chosen | {"name_en": ""}))
    tax_rate.refresh_from_db()
    assert (tax_rate.category, tax_rate.reasons, "en" in tax_rate.names) == ("S", {}, False)


def test_a_rate_is_added_with_what_it_means(desk, company):
    new = {"name": "Export", "percentage": "0", "meaning": "export", "proposed": "export"}
    assert_saved(save(desk, TaxRate, **new, **texts_of("export")))
    assert TaxRate.objects.get().reasons == WORDINGS["export"].reasons
    assert form_of(desk.get(add_url_of(TaxRate)))["meaning"] == ""


def test_who_may_only_look_sees_category_and_texts(sign_in, desk, zero):
    choose(desk, zero, SERVICES)
    page = main_of(sign_in(make_administrator("view_taxrate")).get(url_of(zero)))
    for text in ("Reverse charge", *WORDINGS[SERVICES].reasons.values()):
        assert text in page


def test_a_first_category_makes_what_waits_for_approval_stale(desk, agent, zero, draft_body):
    line = draft_body["line_items"][0] | {"tax_rate_id": str(zero.pk)}
    draft = agent.call("drafts.create", draft_body | {"line_items": [line]}, key="draft").data
    prepared = agent.call(
        "documents.issue_prepare", {"lock_version": 1}, id=draft["id"], key="prepare"
    ).data
    choose(desk, zero, SERVICES)
    approval = agent.call("approvals.get", id=prepared["approval_id"]).data
    changed = [f"tax_breakdown.0.{name}" for name in ("category", "printed_name", "reason")]
    assert (approval["status"], approval["stale_fields"]) == ("stale", changed)


def test_issuing_freezes_what_the_rate_means_in_the_language_of_the_document(desk, company, zero):
    unknown = TaxRateFactory.create()
    choose(desk, zero, SERVICES)
    lines = (line_input(tax_rate_id=zero.pk), line_input(tax_rate_id=unknown.pk))
    issued = make_issued(lines=lines, language="de")
    choose(desk, unknown, "S")
    assert_saved(save(desk, zero, name_de="Anders", reason_de="Anders"))
    kept = issued.tax_rows.order_by("percentage_ten_thousandths")
    assert list(kept.values_list("category", "printed_name", "reason")) == [
        (
            "AE",
            "Steuerschuldnerschaft des Leistungsempfängers",
            "Steuerschuldnerschaft des Leistungsempfängers, Artikel 196 der Richtlinie 2006/112/EG",
        ),
        ("", "", ""),
    ]


def page_form(answer) -> dict[str, str]:
    """Return what a browser sends of the page on which all is asked for."""
    return {
        bound.html_name: str(bound.value() or "")
        for form in answer.context["forms"]
        for bound in form
    }


def test_all_that_is_unknown_is_asked_for_at_once(desk, company, tax_rate, zero):
    TaxRateFactory.create(name="Retired", is_active=False)
    assert f'href="{PAGE}"' in main_of(desk.get(url_of(company)))
    assert "nobody has chosen yet: 2." in main_of(desk.get("/admin/invoices/taxrate/"))
    page = desk.get(PAGE)
    form = page_form(page)
    headings = [str(each.heading) for each in page.context["forms"]]
    assert headings == [str(tax_rate), str(zero), "Lines without a rate"]
    assert [form[f"{each.pk}-meaning"] for each in (tax_rate, zero, company)] == ["S", "", ""]

    small = {f"{company.pk}-meaning": "small-german"}
    shown = desk.post(PAGE, form | small | {f"{zero.pk}-meaning": "Z"})
    assert (shown.status_code, PROPOSED in main_of(shown), acts_written()) == (422, True, [])
    assert desk.post(PAGE, page_form(shown)).status_code == 302
    for record in (company, tax_rate, zero):
        record.refresh_from_db()
    assert (tax_rate.category, tax_rate.names, tax_rate.reasons) == ("S", NAMES["S"], {})
    assert (zero.category, zero.names, zero.reasons) == ("Z", NAMES["Z"], {})
    said = (company.is_small_business, company.untaxed_category, company.untaxed_reasons)
    assert said == (True, "E", WORDINGS["small-german"].reasons)
    assert [action for action, _, _ in acts_written()] == [
        "tax_rate:changed",
        "tax_rate:changed",
        "company:changed",
    ]
    assert "nobody has chosen yet" not in main_of(desk.get("/admin/invoices/taxrate/"))
    assert [str(each.heading) for each in desk.get(PAGE).context["forms"]] == headings[2:]


def test_what_nobody_chose_stays_unknown(desk, company, tax_rate, zero):
    form = page_form(desk.get(PAGE))
    assert desk.post(PAGE, form).status_code == 302
    zero.refresh_from_db()
    assert (zero.category, zero.names, zero.reasons) == ("", {}, {})
    assert acts_written() == [("tax_rate:changed", str(tax_rate.pk), "category, names")]


@pytest.mark.parametrize(
    ("key", "is_small", "category"),
    [("small-french", True, "E"), ("education", False, "E"), ("O", False, "O")],
)
def test_lines_without_a_rate_are_issued_as_the_company_says(
    desk, company, key, is_small, category
):
    reasons = {f"{company.pk}-{name}": each for name, each in texts_of(key).items()}
    chosen = {f"{company.pk}-{name}": key for name in ("meaning", "proposed")}
    assert desk.post(PAGE, page_form(desk.get(PAGE)) | chosen | reasons).status_code == 302
    company.refresh_from_db()
    assert company.is_small_business == is_small
    issued = make_issued(language="fr")
    issued.refresh_from_db()
    reason = WORDINGS[key].reasons["fr"]
    assert (issued.untaxed_category, issued.untaxed_reason) == (category, reason)
    assert f'value="{key}" selected' in desk.get(PAGE).content.decode()


def test_of_two_administrators_who_choose_the_second_is_told_and_changes_nothing(
    desk, sign_in, owner, tax_rate, zero
):
    owners = sign_in(owner)
    first, second = (page_form(browser.get(PAGE)) for browser in (desk, owners))
    assert desk.post(PAGE, first).status_code == 302
    before = take_snapshot()
    chosen = {f"{zero.pk}-{name}": each for name, each in texts_of("Z").items()}
    late = owners.post(PAGE, second | chosen | {f"{zero.pk}-meaning": "Z"})
    assert late.status_code == 409
    assert "Somebody else changed this since you opened it" in main_of(late)
    assert [each.heading for each in late.context["forms"]] == [str(zero), "Lines without a rate"]
    after = take_snapshot()
    assert {name for name in after if after[name] != before[name]} <= {"sessions.Session"}


def test_a_category_that_was_chosen_meanwhile_is_not_chosen_again(zero):
    TaxRate.objects.update(category="Z")
    with pytest.raises(ConflictError), transaction.atomic():
        change_tax_rate(zero, {"category": "O"})
    assert TaxRate.objects.get().category == "Z"


@pytest.mark.parametrize(
    ("permission", "headings"),
    [
        ("change_taxrate", ["Standard rate (19 %)"]),
        ("change_company", ["Lines without a rate"]),
        ("view_taxrate", None),
    ],
)
def test_each_permission_opens_its_part_of_the_page(sign_in, permission, headings):
    CompanyFactory.create()
    TaxRateFactory.create()
    answer = sign_in(make_administrator(permission)).get(PAGE)
    found = answer.context["forms"] if answer.status_code == 200 else None
    assert (found and [each.heading for each in found]) == headings
