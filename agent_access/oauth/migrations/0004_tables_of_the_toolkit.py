from django.db import migrations, router


def create_missing_tables(apps, schema_editor):
    """Create the toolkit's own tables where its migrations ran while its models were swapped.

    At first its settings named the models of this app, so its migrations are recorded there and
    most of its tables do not exist. In any other project there is nothing to create.
    """
    database = schema_editor.connection
    existing = database.introspection.table_names()
    for model in apps.get_app_config('oauth2_provider').get_models():
        is_missing = model._meta.db_table not in existing
        if is_missing and router.allow_migrate_model(database.alias, model):
            schema_editor.create_model(model)


class Migration(migrations.Migration):

    dependencies = [
        ('agent_oauth', '0003_without_id_tokens'),
        ('oauth2_provider', '0022_refreshtoken_token_family_index'),
    ]

    operations = [
        migrations.RunPython(create_missing_tables, migrations.RunPython.noop),
    ]
