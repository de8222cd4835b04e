"""What the administration calls records and their fields is marked, to be translated."""

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets, label_for_field
from django.forms import HiddenInput
from django.utils.functional import Promise

from invoicing.models.words import COLUMNS, RECORDS

pytestmark = [pytest.mark.sqlite, pytest.mark.django_db]  # texts are the same on both databases

PAGES = [page for page in admin.site._registry.values() if page.model in RECORDS]


def test_every_record_and_column_has_its_name():
    for model, names in RECORDS.items():
        options = model._meta
        assert (options.verbose_name, options.verbose_name_plural) == names
        for name, text in COLUMNS.get(model, {}).items():
            field: Any = options.get_field(name)
            assert field.verbose_name is text


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_field_of_a_form_has_a_marked_label(page, rf, owner):
    request = rf.get("/admin/")
    request.user = owner
    form = page.get_form(request, fields=None)
    on_page = flatten_fieldsets(page.get_fieldsets(request))
    shown = {
        name: field.label
        for name, field in form.base_fields.items()
        if name in on_page and not isinstance(field.widget, HiddenInput)
    }
    assert [name for name, label in shown.items() if not isinstance(label, Promise)] == []


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_column_of_a_list_has_a_marked_head(page):
    shown = [name for name in page.list_display if name != "__str__"]
    heads: dict[str, Any] = {name: label_for_field(name, page.model, page) for name in shown}
    assert [name for name, head in heads.items() if not isinstance(head, Promise)] == []
