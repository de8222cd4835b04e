"""What a DATEV adviser gave, as the owner writes it, and the account of a tax rate."""

from functools import partial

import pytest

from invoicing.models import DatevSettings, TaxRate
from tests.admin.forms import add_url_of, assert_saved, refused, save
from tests.administration import acts_written
from tests.factories import TaxRateFactory

pytestmark = pytest.mark.django_db

GIVEN = {"adviser": "1001", "client": "99999", "year_begins": "7", "account_length": "5"}
ACCOUNTS = {"account_s": "84000", "account_k": "81250"}


def test_the_owner_writes_what_the_adviser_gave(owner_desk):
    assert owner_desk.get("/admin/invoices/datevsettings/")["Location"] == add_url_of(DatevSettings)
    assert_saved(save(owner_desk, DatevSettings, **GIVEN, **ACCOUNTS))
    settings = DatevSettings.objects.get()
    kept = (settings.adviser, settings.client, settings.year_begins, settings.account_length)
    assert kept == (1001, 99_999, 7, 5)
    assert settings.accounts == {"S": "84000", "K": "81250"}
    assert_saved(save(owner_desk, settings, adviser="29098", account_k=""))
    assert DatevSettings.objects.get().accounts == {"S": "84000"}
    assert acts_written() == [
        ("DATEV_settings:created", str(settings.pk), ""),
        ("DATEV_settings:changed", str(settings.pk), "adviser, accounts"),
    ]


@pytest.mark.parametrize(
    ("name", "least", "most"), [("adviser", 1001, 9_999_999), ("client", 1, 99_999)]
)
def test_a_number_is_within_what_datev_gives(owner_desk, name, least, most):
    for typed in (least - 1, most + 1, "x"):
        said = refused(partial(save, owner_desk, DatevSettings, **GIVEN | {name: typed}))
        assert list(said) == [name]
    for number in (least, most):
        assert_saved(
            save(
                owner_desk, DatevSettings.objects.first() or DatevSettings, **GIVEN | {name: number}
            )
        )


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("year_begins", "13"),
        ("account_length", "9"),
        ("account_s", "8400"),
        ("account_s", "840000"),
        ("account_s", "84x00"),
        ("account_s", "04000"),
    ],
)
def test_other_settings_are_refused_at_their_field(owner_desk, name, typed):
    said = refused(lambda: save(owner_desk, DatevSettings, **GIVEN | {name: typed}))
    assert list(said) == [name]


def test_there_is_one_record_of_settings(owner_desk, owner):
    DatevSettings.objects.create(adviser=1001, client=1)
    assert owner_desk.get(add_url_of(DatevSettings)).status_code == 403
    assert owner_desk.post(add_url_of(DatevSettings), GIVEN).status_code == 403
    assert DatevSettings.objects.count() == 1


def test_the_account_of_a_rate_changes_in_the_rate_itself(owner_desk, tax_rate):
    assert_saved(save(owner_desk, tax_rate, revenue_account="8300"))
    assert list(TaxRate.objects.values_list("pk", "revenue_account", "is_active")) == [
        (tax_rate.pk, "8300", True)
    ]
    assert acts_written() == [("tax_rate:changed", str(tax_rate.pk), "revenue_account")]
    said = refused(lambda: save(owner_desk, tax_rate, revenue_account="83x0"))
    assert said == {"revenue_account": ["Write the digits of an account."]}


def test_a_retired_rate_gets_an_account_and_one_that_takes_its_place_keeps_it(owner_desk):
    retired = TaxRateFactory.create(is_active=False)
    assert_saved(save(owner_desk, retired, revenue_account="8300"))
    rate = TaxRateFactory.create(revenue_account="8310")
    assert_saved(save(owner_desk, rate, percentage="7"))
    successor = TaxRate.objects.get(percentage_ten_thousandths=70000)
    assert successor.revenue_account == "8310"
