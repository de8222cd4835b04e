from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('agent_oauth', '0001_squashed_0002_owners_desk'),
    ]

    operations = [
        migrations.RemoveField(
            model_name='accesstoken',
            name='id_token',
        ),
        migrations.DeleteModel(
            name='IDToken',
        ),
    ]
