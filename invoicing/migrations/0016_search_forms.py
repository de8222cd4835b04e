"""Writes the forms of words that searches look for now, of all records there are."""

from django.db import migrations

from invoicing.services.search_rebuild import rebuild_words


def write_forms(apps, schema_editor):
    customer, document = (apps.get_model('invoices', name) for name in ('Customer', 'Document'))
    rebuild_words(customer.objects.all(), document.objects.all())


class Migration(migrations.Migration):

    # In batches, each of which is kept if the next one fails; to migrate again completes them.
    atomic = False

    dependencies = [
        ('invoices', '0015_folded_email_addresses'),
    ]

    operations = [
        migrations.RunPython(write_forms, migrations.RunPython.noop),
    ]
