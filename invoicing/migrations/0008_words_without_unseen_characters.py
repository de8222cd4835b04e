from django.db import migrations
from django.db.models import Q

from invoicing.search.words import UNSEEN
from invoicing.services.search_words import fill_words


def fill_word_table(apps, schema_editor):
    # Soft hyphens, joiners and variation selectors split a word no more. Only records with such
    # characters get new rows; their old rows stay, since a row too many shows nothing (ADR 14).
    unseen = UNSEEN.pattern
    fill_words(
        apps.get_model('invoices', 'Customer').objects.filter(name__regex=unseen),
        apps.get_model('invoices', 'Document').objects.filter(
            Q(reference__regex=unseen) | Q(buyer_name__regex=unseen) | Q(customer__name__regex=unseen)
        ),
    )


class Migration(migrations.Migration):

    # As in 0005: in batches, and a run that was interrupted can be repeated.
    atomic = False

    dependencies = [
        ('invoices', '0007_bank_details_of_documents'),
    ]

    operations = [
        migrations.RunPython(fill_word_table, migrations.RunPython.noop, elidable=True),
    ]
