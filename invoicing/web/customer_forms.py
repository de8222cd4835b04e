"""The form of a customer on its own pages: that of the administration, in parts."""

from collections.abc import Iterator
from typing import Any, cast

from django.forms import BoundField, ModelMultipleChoiceField, TextInput, modelform_factory
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from invoicing.admin.customers import CustomerForm
from invoicing.administration.customers import GUARDED
from invoicing.models import Customer, User
from invoicing.rights import may_guard_customers

Form = cast(
    "type[CustomerForm]",
    modelform_factory(Customer, form=CustomerForm, exclude=["is_active"]),
)

# What each part is called, what it says, and its fields with their widths.
PARTS: tuple[tuple[Any, Any, tuple[tuple[str, str], ...]], ...] = (
    ("", "", (("name", "w6"), ("customer_number", "w6"))),
    (
        _("Address"),
        "",
        (
            ("street", "w6"),
            ("address_line", "w6"),
            ("postcode", "w3"),
            ("city", "w3"),
            ("region", "w3"),
            ("country", "w3"),
        ),
    ),
    (_("Tax"), "", (("vat_number", "w6"), ("tax_number", "w6"))),
    (
        _("E-invoices"),
        _("Invoices carry these. Nothing is sent to them from here."),
        (
            ("e_invoice", "w6"),
            ("email", "w6"),
            ("electronic_address_scheme", "w6"),
            ("electronic_address", "w6"),
            ("buyer_reference", "w12"),
        ),
    ),
    (
        _("New documents"),
        _("What is filled in for this customer. Each document can differ."),
        (("language", "w6"), ("currency_code", "w3"), ("payment_days", "w3")),
    ),
    (_("In this application"), "", (("is_watched", "w12"), ("account_managers", "w12"))),
)


def make_form(user: User, *args: Any, **kwargs: Any) -> CustomerForm:
    """Return the form with the fields that the user may fill in, of a new customer or one."""
    form = Form(*args, **kwargs)
    if not may_guard_customers(user, "add" if form.instance._state.adding else "change"):
        for name in GUARDED:
            del form.fields[name]
    for field in form.fields.values():
        if isinstance(field.widget, TextInput):
            field.widget.attrs["dir"] = "auto"
    return form


def read_typed(form: CustomerForm, data: QueryDict) -> dict[str, Any]:
    """Return what was typed, by the names of the form's fields, to be shown unjudged."""
    return {
        name: field.widget.value_from_datadict(data, {}, name)
        for name, field in form.fields.items()
    }


def describe_parts(form: CustomerForm) -> Iterator[dict[str, Any]]:
    """Yield the parts of the form that have a field."""
    for title, hint, names in PARTS:
        fields = [
            {"field": form[name], "class": width} for name, width in names if name in form.fields
        ]
        if fields:
            yield {"title": title, "hint": hint, "fields": fields}


def describe_differences(form: CustomerForm, saved: Customer) -> list[dict[str, str]]:
    """Return what a valid form says otherwise than the customer as it is saved now."""
    rows = []
    for field in form.visible_fields():
        before = _describe(field, field.field.prepare_value(_saved_value(saved, field.name)))
        after = _describe(field, field.field.prepare_value(form.cleaned_data[field.name]))
        if before != after:
            rows.append({"label": str(field.label), "before": before, "after": after})
    return rows


def _saved_value(saved: Customer, name: str) -> Any:
    value = getattr(saved, name)
    return value.order_by("name") if name == "account_managers" else value


def _describe(field: BoundField, value: Any) -> str:
    if isinstance(value, bool):
        return str(_("Yes") if value else _("No"))
    choices = {str(key): str(label) for key, label in getattr(field.field, "choices", ())}
    if isinstance(field.field, ModelMultipleChoiceField):
        return ", ".join(sorted(choices.get(str(each), "") for each in value))
    text = "" if value is None else str(value)
    return choices.get(text, text) if text else ""
