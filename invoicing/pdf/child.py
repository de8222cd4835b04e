"""Makes PDFs in a process of its own, which knows neither Django nor the application.

Requests come on standard input, and each is answered on standard output, until the input ends. A
request or an answer is JSON, after eight bytes (big-endian) with its length:

request: {"paper", "logo", "xml", "relationship", "timestamp", "fonts", "large_fonts"}
answer: {"pdf" (base64)}, or {"missing": characters}, or {"error": what went wrong}
"""

import base64
import contextlib
import json
import re
import resource
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import typst

TEMPLATE = Path(__file__).with_name("document.typ").read_bytes()
LENGTH_BYTES = 8
# The most memory that this process may have for itself, in bytes. The longest document that can be
# issued takes some 330 MiB, fonts and libraries included.
MEMORY = 384 << 20

Request = dict[str, Any]

# All that only the large fonts may have: they are read for a text with one of these.
LARGE = re.compile("[\u1100-\u11ff\u20dd\u20de\u2160-\U0010ffff]")
# How typst says that no font has some characters; in PDF/A that is an error.
MISSING = re.compile(r'the text `"(.+?)"` could not be displayed')

# What Factur-X says of itself in the metadata (XMP), in a vocabulary that PDF/A wants declared.
FACTUR_X = "urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#"
TERMS = {
    "DocumentFileName": "factur-x.xml",
    "DocumentType": "INVOICE",
    "Version": "1.0",
    "ConformanceLevel": "EN 16931",
}
# The object with the metadata: its number and the XMP; the end of the file: what its trailer says
# and where the table of objects begins.
METADATA = re.compile(
    rb"\n(\d+) 0 obj\n<<[^<>]*/Type/Metadata[^<>]*>>\nstream\n(.*?)\nendstream", re.DOTALL
)
TRAILER = re.compile(rb"trailer\n<<(.*)>>\nstartxref\n(\d+)\n%%EOF\s*\Z", re.DOTALL)


def main() -> None:
    with contextlib.suppress(ValueError, OSError):  # a system may know no such limit
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        # Without memory the kernel ends this process before the service.
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    for request in read_requests(sys.stdin.buffer):
        answer = json.dumps(answer_request(request)).encode()
        sys.stdout.buffer.write(len(answer).to_bytes(LENGTH_BYTES, "big") + answer)
        sys.stdout.buffer.flush()


def read_requests(stream: BinaryIO) -> Iterator[Request]:
    while length := stream.read(LENGTH_BYTES):
        yield json.loads(stream.read(int.from_bytes(length, "big")))


def answer_request(request: Request) -> dict[str, str]:
    large = request["large_fonts"] if LARGE.search(str(request["paper"])) else []
    try:
        pdf = make_pdf(request, (*request["fonts"], *large))
    except typst.TypstError as error:
        missing = set("".join(MISSING.findall(error.diagnostic)))
        return {"missing": "".join(sorted(missing))} if missing else {"error": error.diagnostic}
    except Exception as error:  # noqa: BLE001  whatever it is, who asked is told
        return {"error": repr(error)}
    return {"pdf": base64.b64encode(pdf).decode()}


def make_pdf(request: Request, fonts: tuple[str, ...]) -> bytes:
    pdf = compiler_with(fonts).compile(
        TEMPLATE,
        format="pdf",
        pdf_standards="a-3b",
        timestamp=request["timestamp"],
        sys_inputs={"data": json.dumps(request)},
    )
    if not isinstance(pdf, bytes):  # pages by themselves, of other formats
        raise TypeError("This is not one file.")
    return declare_xml(pdf) if request["xml"] else pdf


@cache
def compiler_with(fonts: tuple[str, ...]) -> typst.Compiler:
    return typst.Compiler(font_paths=fonts_in(fonts))


@cache
def fonts_in(folders: tuple[str, ...]) -> typst.Fonts:
    return typst.Fonts(
        include_system_fonts=False, include_embedded_fonts=False, font_paths=list(folders)
    )


def declare_xml(pdf: bytes) -> bytes:
    """Say in the metadata that this is an invoice of Factur-X.

    typst cannot. It is an incremental update, which appends a new version of one object (ISO
    32000-1, 7.5.6).
    """
    found, trailer = METADATA.search(pdf), TRAILER.search(pdf)
    if not found or not trailer:
        raise ValueError("This PDF is not as typst writes it.")
    xmp = add_terms(found[2].decode()).encode()
    head = b"\n%s 0 obj\n<</Length %d/Type/Metadata/Subtype/XML>>\nstream\n" % (found[1], len(xmp))
    longer = pdf + head + xmp + b"\nendstream\nendobj\n"
    table = b"xref\n%s 1\n%010d 00000 n \n" % (found[1], len(pdf) + 1)
    told, former = trailer[1], trailer[2]
    end = b"trailer\n<<%s/Prev %s>>\nstartxref\n%d\n%%%%EOF\n" % (told, former, len(longer))
    return longer + table + end


def add_terms(xmp: str) -> str:
    terms = "".join(f"<fx:{name}>{value}</fx:{name}>" for name, value in TERMS.items())
    properties = "".join(
        '<rdf:li rdf:parseType="Resource">'
        "<pdfaProperty:category>external</pdfaProperty:category>"
        f"<pdfaProperty:description>{name} of the e-invoice</pdfaProperty:description>"
        f"<pdfaProperty:name>{name}</pdfaProperty:name>"
        "<pdfaProperty:valueType>Text</pdfaProperty:valueType></rdf:li>"
        for name in TERMS
    )
    schema = (
        '<rdf:li rdf:parseType="Resource">'
        "<pdfaSchema:schema>Factur-X</pdfaSchema:schema>"
        f"<pdfaSchema:namespaceURI>{FACTUR_X}</pdfaSchema:namespaceURI>"
        "<pdfaSchema:prefix>fx</pdfaSchema:prefix>"
        f"<pdfaSchema:property><rdf:Seq>{properties}</rdf:Seq></pdfaSchema:property></rdf:li>"
    )
    described = f'<rdf:Description rdf:about="" xmlns:fx="{FACTUR_X}">{terms}</rdf:Description>'
    schemas, whole = "</rdf:Bag></pdfaExtension:schemas>", "</rdf:RDF></x:xmpmeta>"
    return xmp.replace(schemas, schema + schemas).replace(whole, described + whole)


if __name__ == "__main__":
    main()
