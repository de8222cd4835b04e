"""How many issued documents there are, in words."""

from django.utils.translation import ngettext


def count_issued(invoices: int, notes: int) -> str:
    """Write how many of each there are: "2 invoices, 1 credit note"."""
    counted = [ngettext("{count} invoice", "{count} invoices", invoices).format(count=invoices)]
    if notes:
        told = ngettext("{count} credit note", "{count} credit notes", notes)
        counted.append(told.format(count=notes))
    return ", ".join(counted)
