from django.db import migrations, models
from django.db.models import Q

BY_EXPIRY, BY_TARGET = "agent_approval_by_expiry", "agent_approval_by_target"


def replace_index(name, *fields, **more):
    """Return operations, none of which makes the table anew: it would lose its triggers."""
    index = models.Index(fields=fields, name=name, **more)
    return [
        migrations.RemoveIndex("approvalrequest", name),
        migrations.AddIndex("approvalrequest", index),
    ]


class Migration(migrations.Migration):

    dependencies = [
        ("agent_approvals", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            "approvalrequest", "repeats", models.PositiveIntegerField(editable=False, null=True)
        ),
        migrations.AddField(
            "approvalrequest", "replaced_at", models.DateTimeField(editable=False, null=True)
        ),
        *replace_index(
            BY_EXPIRY, "delegated_user", "expires_at", "id", condition=Q(replaced_at=None)
        ),
        *replace_index(BY_TARGET, "target", "connection_id", "replaced_at"),
    ]
