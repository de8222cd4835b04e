"""Everything that the domain's tables hold, to see that a refusal changed nothing."""

from typing import Any

from django.apps import apps


def all_rows() -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table of the app, by table."""
    models = apps.get_app_config("invoices").get_models(include_auto_created=True)
    return {
        model._meta.db_table: sorted(model._default_manager.values_list(), key=repr)
        for model in models
    }
