"""The codes by which a banking app pays an issued invoice, as SVG to stand in a page.

In euros it is the code of the European Payments Council (EPC069-12, version 002). To a Swiss
account it is the Swiss QR-bill, which is lawful only with a payment part and a receipt of its own
(Swiss Implementation Guidelines QR-bill 2.3).
"""

import re
from decimal import Decimal
from typing import Any

import segno
from django.utils.safestring import SafeString, mark_safe
from segno import QRCode
from segno.helpers import make_epc_qr
from stdnum import iban

from invoicing.models import Document
from invoicing.paper.labels import swiss_labels_in

# Of both codes: the most characters of a name, and the amounts that a bank takes.
NAME_LENGTH = 70
LEAST_AMOUNT, MOST_AMOUNT = Decimal("0.01"), Decimal("999999999.99")
CENTS = 2
EPC_BORDER = 4
SWISS_COUNTRIES = ("CH", "LI")
SWISS_CURRENCIES = ("CHF", "EUR")
# Accounts with these bank numbers need a reference, which the bank assigns.
QR_IBANS = range(30000, 32000)
# The characters of a QR-bill, and those of a name or address that have a plain one there.
SWISS_TEXT = re.compile(r"[\x20-\x7e\xa0-\u017f\u0218-\u021b€]*")
PLAIN = str.maketrans("‘’‚“”„–—", "''," + '"""' + "--")  # noqa: RUF001  the typographic ones
# The parts of an address in a QR-bill, with their most characters. A street has its number.
SWISS_PARTS = {"street": 70, "postcode": 16, "city": 35, "country": 2}

Payment = dict[str, Any]


def payment_of(document: Document) -> Payment:
    """Return how to pay an issued invoice: an EPC `code`, a `swiss` payment part, or nothing."""
    account = iban.compact(document.seller_iban)
    amount = Decimal(document.grand_total).scaleb(-document.minor_unit)
    is_payable = (
        document.is_issued
        and not document.is_credit_note
        and document.minor_unit == CENTS
        and LEAST_AMOUNT <= amount <= MOST_AMOUNT
        and iban.is_valid(account)
    )
    if not is_payable:
        return {}
    if account[:2] in SWISS_COUNTRIES:
        return _swiss(document, account, amount)
    return _epc(document, account, amount) if document.currency_code == "EUR" else {}


def _epc(document: Document, account: str, amount: Decimal) -> Payment:
    """Return the code of the European Payments Council; a name is cut where the code ends it."""
    try:
        code = make_epc_qr(
            name=document.seller_name[:NAME_LENGTH],
            iban=account,
            amount=amount,
            text=document.number,
            bic=document.seller_bic or None,
            encoding="utf-8",
        )
    except ValueError:  # no BIC, or too many characters that need several bytes
        return {}
    return {"code": _draw(code, border=EPC_BORDER)}


def _swiss(document: Document, account: str, amount: Decimal) -> Payment:
    """Return the payment part of a QR-bill, without a reference and with the number as message."""
    creditor = _address(document.seller_name, document.seller_parts)
    needs_reference = int(account[4:9]) in QR_IBANS
    if not creditor or needs_reference or document.currency_code not in SWISS_CURRENCIES:
        return {}
    debtor = _address(document.buyer_name, document.buyer_parts)
    message = str(document.number)
    rows = [
        *("SPC", "0200", "1", account),
        *_rows_of(creditor),
        *[""] * 7,  # the ultimate creditor is for a use to come
        *(f"{amount:.2f}", document.currency_code),
        *_rows_of(debtor),
        *("NON", "", message, "EPD"),
    ]
    code = segno.make_qr("\n".join(rows), error="m", boost_error=False, encoding="utf-8")
    return {
        "swiss": {
            "labels": swiss_labels_in(document.language),
            "code": _draw(code, border=0),
            "account": iban.format(account),
            "creditor": _lines_of(creditor),
            "debtor": _lines_of(debtor),
            "message": message,
            "currency_code": document.currency_code,
            "amount": f"{amount:,.2f}".replace(",", "\N{NO-BREAK SPACE}"),
        }
    }


def _address(name: str, parts: dict[str, str] | None) -> dict[str, str]:
    """Return a party as a QR-bill names it, or nothing if it cannot be written or lacks a part."""
    limits = {"name": NAME_LENGTH, **SWISS_PARTS}
    told = {"name": name, **(parts or {})}
    address = {
        part: told.get(part, "").translate(PLAIN)[:limit].strip() for part, limit in limits.items()
    }
    is_whole = all(text for part, text in address.items() if part != "street")
    return address if is_whole and SWISS_TEXT.fullmatch("".join(address.values())) else {}


def _rows_of(address: dict[str, str]) -> list[str]:
    if not address:
        return [""] * 7
    number = ""
    name, street, *place = address.values()
    return ["S", name, street, number, *place]


def _lines_of(address: dict[str, str]) -> list[str]:
    """Return the address as it is printed, with the code of a foreign country."""
    if not address:
        return []
    abroad = "" if address["country"] in SWISS_COUNTRIES else f"{address['country']}-"
    place = f"{abroad}{address['postcode']} {address['city']}"
    return [line for line in (address["name"], address["street"], place) if line]


def _draw(code: QRCode, *, border: int) -> SafeString:
    svg = code.svg_inline(border=border, omitsize=True, svgclass=None, lineclass=None, light="#fff")
    return mark_safe(svg)  # noqa: S308  squares only
