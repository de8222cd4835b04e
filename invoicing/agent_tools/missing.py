"""What an installation lacks before an agent is of use, in words for the operator."""

from collections.abc import Iterator

from django.conf import settings
from django.db.models import Q
from django.urls import reverse

from invoicing.access import Permission
from invoicing.models import Company, Customer, TaxRate, User

NO_COMPANY = "There is no company yet: sign in as superuser and add it at {address}"
NOBODY = (
    "Nobody for whom an agent could act has a permission yet: choose people's permissions at"
    " {address}"
)
NO_CUSTOMER = "There is no active customer yet, so no draft can be written: add one at {address}"
NO_TAX_RATE = "There is no active tax rate yet, so every line is untaxed: add one at {address}"


def find_missing() -> list[str]:
    return [
        sentence.format(address=f"{settings.BASE_URL}{reverse(f'admin:invoices_{page}')}")
        for sentence, page in _find()
    ]


def _find() -> Iterator[tuple[str, str]]:
    """Yield each sentence with the page of the administration that it names."""
    if not Company.objects.exists():
        yield NO_COMPANY, "company_add"
    if not _anybody_has_a_permission():
        yield NOBODY, "user_changelist"
    if not Customer.objects.filter(is_active=True).exists():
        yield NO_CUSTOMER, "customer_add"
    if not TaxRate.objects.filter(is_active=True).exists():
        yield NO_TAX_RATE, "taxrate_add"


def _anybody_has_a_permission() -> bool:
    codenames = [each.partition(".")[2] for each in Permission]
    app = User._meta.app_label
    permitted = Q(is_superuser=True)
    for way in ("user_permissions", "groups__permissions"):
        names = {f"{way}__content_type__app_label": app, f"{way}__codename__in": codenames}
        permitted |= Q(**names)
    return User.objects.listed().filter(permitted).exists()
