import pytest

from invoicing.languages import countries_by_name, name_of_country


@pytest.mark.parametrize("code", ["", "UK", "de", "EU", "XA", "ZZ", "=1"])
def test_what_is_no_country_stays_as_it_is(code) -> None:
    assert name_of_country(code, "en") == code


def test_the_countries_are_those_of_iso_3166_and_kosovo() -> None:
    codes = [code for code, _ in countries_by_name()]
    assert len(codes) == len(set(codes)) == 249 + 1
    assert {"DE", "GB", "US", "XK"} < set(codes)


def test_countries_stand_in_the_order_of_their_names_without_accents() -> None:
    names = [name for _, name in countries_by_name()]
    assert names[:3] == ["Afghanistan", "Åland Islands", "Albania"]
    assert names[-1] == "Zimbabwe"
