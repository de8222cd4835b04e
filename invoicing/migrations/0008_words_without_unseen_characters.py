from django.db import migrations
from django.db.models import Q

from invoicing.search.words import UNSEEN
from invoicing.services.search_words import fill_words


def fill_word_table(apps, schema_editor):
    # Words that a soft hyphen, a joiner or a variant of Han used to part are one now. Their former
    # rows stay: a row too many shows nothing (ADR 14). All other records keep the rows that they have.
    unseen = UNSEEN.pattern
    fill_words(
        apps.get_model('invoices', 'Customer').objects.filter(name__regex=unseen),
        apps.get_model('invoices', 'Document').objects.filter(
            Q(reference__regex=unseen) | Q(buyer_name__regex=unseen) | Q(customer__name__regex=unseen)
        ),
    )


class Migration(migrations.Migration):

    # As 0005: portion by portion, and simply repeated where it was broken off.
    atomic = False

    dependencies = [
        ('invoices', '0007_bank_details_of_documents'),
    ]

    operations = [
        migrations.RunPython(fill_word_table, migrations.RunPython.noop, elidable=True),
    ]
