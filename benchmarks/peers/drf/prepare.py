"""Makes the peer's tables, its records and a token, and prints what a client needs as JSON."""

import json
import os
import secrets
from datetime import timedelta

import django


def prepare() -> dict[str, object]:
    from django.contrib.auth.models import User  # noqa: PLC0415  models need the settings
    from django.core.management import call_command  # noqa: PLC0415  as above
    from django.utils import timezone  # noqa: PLC0415  as above
    from oauth2_provider.models import AccessToken, Application  # noqa: PLC0415  as above

    from benchmarks.peers.drf.models import Customer, Series, TaxRate  # noqa: PLC0415  as above

    call_command("migrate", run_syncdb=True, verbosity=0)
    user = User.objects.create_user("bookkeeper")
    token = AccessToken.objects.create(
        user=user,
        token=secrets.token_urlsafe(32),
        application=Application.objects.create(
            client_type="public", authorization_grant_type="authorization-code"
        ),
        expires=timezone.now() + timedelta(days=1),
        scope="read write",
    )
    customers = [Customer.objects.create(name=f"Customer {number}") for number in range(60)]
    rates = [TaxRate.objects.create(name=f"{each} %", percentage=each) for each in (19, 7, 0)]
    Series.objects.create(year=timezone.now().year)
    return {
        "token": token.token,
        "customer_id": str(customers[0].id),
        "tax_rate_ids": [str(rate.id) for rate in rates],
    }


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.peers.drf.settings"
    django.setup(set_prefix=False)
    print(json.dumps(prepare()))  # noqa: T201  its caller reads it
