import django.db.models.functions.text
import django.db.models.lookups
from django.db import migrations, models

import invoicing.models.people
from invoicing.email_addresses import fold_address


def fold_addresses(apps, schema_editor):
    """Fold the addresses that a former release kept in another spelling."""
    users = apps.get_model("invoices", "User").objects
    for pk, email in users.values_list("pk", "email"):
        folded = fold_address(email)
        if folded == email:
            continue
        if users.filter(email=folded).exists():
            raise ValueError(
                f"Two people have the e-mail address {folded}, in two spellings: give one of them"
                " another address with the former release, then migrate."
            )
        users.filter(pk=pk).update(email=folded)


class Migration(migrations.Migration):

    dependencies = [
        ("invoices", "0014_password_upgrades"),
    ]

    operations = [
        migrations.RunPython(fold_addresses, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="user",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.Exact(
                    invoicing.models.people.OctetLength("email"),
                    django.db.models.functions.text.Length("email"),
                ),
                name="email_ascii",
                violation_error_message=(
                    'Write this e-mail address in ASCII, its domain as "xn--...".'
                ),
            ),
        ),
    ]
