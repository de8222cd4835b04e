from django.db import migrations, models


class Migration(migrations.Migration):
    """Only a nullable column, which a release before does not write."""

    dependencies = [("invoices", "0028_customers_by_vat_number")]

    operations = [
        migrations.AddField(
            model_name="user",
            name="setup_put_away_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
    ]
