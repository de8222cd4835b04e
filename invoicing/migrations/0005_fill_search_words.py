from django.db import migrations

from invoicing.services.search_words import fill_words


def fill_word_table(apps, schema_editor):
    # The same beginnings as the services write. Where they change one day, a later migration
    # fills the table anew, and this one may write theirs.
    customers, documents = (apps.get_model('invoices', name).objects for name in ('Customer', 'Document'))
    fill_words(customers.all(), documents.all())


class Migration(migrations.Migration):

    # Portion by portion: a million documents are neither one transaction nor in memory at once. A
    # run that was broken off is simply repeated.
    atomic = False

    dependencies = [
        ('invoices', '0004_search_words'),
    ]

    operations = [
        migrations.RunPython(fill_word_table, migrations.RunPython.noop, elidable=True),
    ]
