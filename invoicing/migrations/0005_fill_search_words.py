from django.db import migrations

from invoicing.services.search_words import fill_words


def fill_word_table(apps, schema_editor):
    # Writes the prefixes of today's code. If these change, a later migration must fill the table
    # again, and it does not matter which ones this migration wrote.
    customers, documents = (apps.get_model('invoices', name).objects for name in ('Customer', 'Document'))
    fill_words(customers.all(), documents.all())


class Migration(migrations.Migration):

    # In batches: a million documents are neither one transaction nor in memory at once. A run that
    # was interrupted can be repeated.
    atomic = False

    dependencies = [
        ('invoices', '0004_search_words'),
    ]

    operations = [
        migrations.RunPython(fill_word_table, migrations.RunPython.noop, elidable=True),
    ]
