from invoicing.models import Company, Customer, Line, Skill, TaxRate, TaxRow, Team, User


def test_a_percentage_and_a_quantity_read_as_people_write_them() -> None:
    assert TaxRate(percentage_ten_thousandths=190_000).percentage == "19"
    assert TaxRow(percentage_ten_thousandths=88_750).percentage == "8.875"
    assert Line(quantity_ten_thousandths=15_000).quantity == "1.5"


def test_a_record_is_called_by_its_name() -> None:
    for model in (Company, Customer, Skill, Team, User):
        assert str(model(name="Halden")) == "Halden"
    assert str(TaxRate(name="Reduced", percentage_ten_thousandths=70_000)) == "Reduced (7 %)"
