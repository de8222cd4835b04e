"""The proposed tax rates: seen, confirmed in one click, saved once, each with its audit event."""

import re
from typing import Any

import pytest

from invoicing.access import Permission
from invoicing.models import Company, TaxRate
from tests.administration import acts_written
from tests.factories import TaxRateFactory, UserFactory
from tests.interface.refusals import nothing_changes
from tests.web.forms import main_of, text_of

# A page is the same on both databases.
pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]

PATH = "/setup/taxes"
GERMAN_EXPORT = "Steuerfreie Ausfuhrlieferung, § 4 Nr. 1 Buchst. a i. V. m. § 6 UStG"


def ticked(answer: Any) -> dict[str, Any]:
    """Return what the form sends as it is shown."""
    form = main_of(answer).split("<form", 1)[1].split("</form>")[0]
    boxes = re.findall(r'name="(\w+)"\s+value="([^"]+)"\s+checked', form)
    return {
        "rate": [value for name, value in boxes if name == "rate"],
        **{name: value for name, value in boxes if name != "rate"},
    }


def rates() -> list[tuple[str, str, str]]:
    active = TaxRate.objects.filter(is_active=True).order_by("category", "-pk")
    return sorted((each.category, each.percentage, each.name) for each in active)


def test_what_is_shown_is_what_one_click_saves(sign_in, owner):
    desk = sign_in(owner)
    shown = desk.get(PATH)
    assert GERMAN_EXPORT in main_of(shown)
    assert "A proposal for Germany" in text_of(shown)
    assert TaxRate.objects.count() == 0
    answer = desk.post(PATH, ticked(shown))
    assert (answer.status_code, answer["Location"]) == (302, "/setup")
    assert rates() == [
        ("AE", "0", "Reverse charge"),
        ("AE", "0", "Reverse charge in Germany"),
        ("E", "0", "Exempt"),
        ("G", "0", "Export"),
        ("K", "0", "Intra-community supply"),
        ("O", "0", "Outside the scope of VAT"),
        ("S", "19", "Standard rate"),
        ("S", "7", "Reduced rate"),
    ]
    export = TaxRate.objects.get(category="G")
    assert (export.names["de"], export.reasons["de"]) == ("Ausfuhrlieferung", GERMAN_EXPORT)
    company = Company.objects.get()
    assert (company.untaxed_category, company.is_small_business) == ("O", False)
    created = [("tax_rate:created", str(each.pk), "") for each in TaxRate.objects.order_by("pk")]
    said = ("company:changed", str(company.pk), "untaxed_category, untaxed_reasons")
    assert acts_written() == [*created, said]
    assert "8 tax rates were saved." in main_of(desk.get("/setup"))


def test_a_second_click_saves_nothing_twice(sign_in, owner):
    desk = sign_in(owner)
    form = ticked(desk.get(PATH))
    desk.post(PATH, form)
    before = (rates(), acts_written())
    desk.post(PATH, form)
    assert (rates(), acts_written()) == before
    assert "You have this one." in main_of(desk.get(PATH))
    assert ticked(desk.get(PATH)) == {"rate": []}


def test_only_what_is_ticked_is_saved(sign_in, owner):
    sign_in(owner).post(PATH, {"rate": ["S-190000"]})
    assert rates() == [("S", "19", "Standard rate")]
    assert Company.objects.get().untaxed_category == ""


@pytest.mark.parametrize("sent", [[], ["S-200000"], ["S-190000", "Z-0"], ["nonsense"]])
def test_what_was_not_proposed_is_not_saved(sign_in, owner, sent):
    desk = sign_in(owner)
    with nothing_changes():
        answer = desk.post(PATH, {"rate": sent, "untaxed": "yes"})
    assert answer.status_code == 422
    assert "Nothing was saved." in main_of(answer)


def test_the_country_decides_and_one_that_is_not_known_says_so(sign_in, owner):
    desk = sign_in(owner)
    Company.objects.update(country="FR")
    shown = main_of(desk.get(PATH))
    assert all(each in shown for each in ("20%", "10%", "5.5%", "2.1%", "Autoliquidation"))
    Company.objects.update(country="BR")
    assert "know the percentages of Brazil" in main_of(desk.get(PATH))
    Company.objects.update(country="")
    assert "The company has no country yet" in main_of(desk.get(PATH))


def test_a_small_business_saves_no_rate_and_says_why_no_line_is_taxed(sign_in, owner):
    desk = sign_in(owner)
    desk.post(PATH, {"small": "yes"})
    company = Company.objects.get()
    assert (company.untaxed_category, company.is_small_business) == ("E", True)
    assert "§ 19 UStG" in company.untaxed_reasons["de"]
    assert rates() == []
    assert "Saved: your company is a small business." in main_of(desk.get("/setup"))


def test_what_lines_without_a_rate_mean_stays_as_somebody_chose_it(sign_in, owner):
    Company.objects.update(untaxed_category="E", untaxed_reasons={"en": "Our own words"})
    desk = sign_in(owner)
    desk.post(PATH, {"rate": ["S-190000"], "untaxed": "yes"})
    desk.post(PATH, {"small": "yes"})
    company = Company.objects.get()
    assert (company.untaxed_category, company.untaxed_reasons) == ("E", {"en": "Our own words"})


def test_a_rate_that_somebody_ended_is_proposed_again(sign_in, owner):
    TaxRateFactory.create(category="S", is_active=False)
    assert "S-190000" in ticked(sign_in(owner).get(PATH))["rate"]


def test_nobody_else_saves_any(sign_in, owner):
    desk = sign_in(UserFactory.create(permissions=tuple(Permission)))
    assert "Only the owner sets this up" in main_of(desk.get(PATH))
    with nothing_changes():
        for form in ({"rate": ["S-190000"]}, {"small": "yes"}, {}, {"rate": ["X"]}):
            answer = desk.post(PATH, form)
            assert answer.status_code == 403
            # Nor does a form that the owner would have to correct show which rates there are.
            assert "You have this one" not in main_of(answer)


def test_without_a_company_there_is_no_country_to_propose_for(sign_in, db):
    person = UserFactory.create(is_staff=True, is_superuser=True)
    answer = sign_in(person).get(PATH)
    assert answer.status_code == 409
    assert "There is no company yet" in main_of(answer)
