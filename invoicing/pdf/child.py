"""Makes PDFs in a process of its own, which knows neither Django nor the application.

Requests come on standard input and are answered on standard output until the input ends. Each is
eight bytes with its length (big-endian) and that many bytes of JSON:

request: {"paper", "xml" (null, or a text), "relationship", "fonts" and "more_fonts" (folders)}
answer: {"pdf" (base64)}, or {"missing": characters}, or {"error": what went wrong}
"""

import base64
import contextlib
import io
import json
import re
import resource
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import pikepdf
import typst

TEMPLATE = Path(__file__).with_name("document.typ").read_bytes()
LENGTH_BYTES = 8
# The most memory that a document may take, in bytes of address space.
MEMORY = 2 << 30
MISSING = re.compile(r'error: .*the text `"(.+)"` could not be displayed')

Request = dict[str, Any]

# What Factur-X says of itself, and the schema by which PDF/A allows it to.
FACTUR_X = "urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#"
TERMS = {
    "DocumentFileName": "factur-x.xml",
    "DocumentType": "INVOICE",
    "Version": "1.0",
    "ConformanceLevel": "EN 16931",
}


def main() -> None:
    with contextlib.suppress(ValueError, OSError):  # not on every system
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for request in read_requests(sys.stdin.buffer):
        answer = json.dumps(answer_request(request)).encode()
        sys.stdout.buffer.write(len(answer).to_bytes(LENGTH_BYTES, "big") + answer)
        sys.stdout.buffer.flush()


def read_requests(stream: BinaryIO) -> Iterator[Request]:
    while length := stream.read(LENGTH_BYTES):
        yield json.loads(stream.read(int.from_bytes(length, "big")))


def answer_request(request: Request) -> dict[str, str]:
    """Make the PDF; fonts for scripts with thousands of letters are read only if they are needed."""
    fonts = tuple(request["fonts"])
    try:
        try:
            pdf = make_pdf(request, fonts)
        except typst.TypstError as error:
            if not (request["more_fonts"] and MISSING.search(error.diagnostic)):
                raise
            pdf = make_pdf(request, (*fonts, *request["more_fonts"]))
    except typst.TypstError as error:
        if missing := MISSING.findall(error.diagnostic):
            return {"missing": "".join(sorted(set("".join(missing))))}
        return {"error": error.diagnostic}
    except Exception as error:  # noqa: BLE001  whatever it is, the process that asked is told
        return {"error": repr(error)}
    return {"pdf": base64.b64encode(pdf).decode()}


def make_pdf(request: Request, fonts: tuple[str, ...]) -> bytes:
    compiler = compiler_with(fonts)
    data = {"families": families_in(fonts), **request}
    pdf = compiler.compile(
        TEMPLATE,
        format="pdf",
        pdf_standards="a-3b",
        timestamp=request["timestamp"],
        sys_inputs={"data": json.dumps(data)},
    )
    return declare_xml(pdf) if request["xml"] else pdf


@cache
def compiler_with(fonts: tuple[str, ...]) -> typst.Compiler:
    return typst.Compiler(font_paths=fonts_of(fonts))


@cache
def fonts_of(fonts: tuple[str, ...]) -> typst.Fonts:
    return typst.Fonts(
        include_system_fonts=False, include_embedded_fonts=False, font_paths=list(fonts)
    )


def families_in(fonts: tuple[str, ...]) -> list[str]:
    """Return the names of the fonts, in the order of their folders."""
    found = fonts_of(fonts).fonts()
    return [
        font.family for folder in fonts for font in found if Path(folder) in Path(font.path).parents
    ]


def declare_xml(pdf: bytes) -> bytes:
    """Say in the metadata (XMP) that the PDF is a Factur-X invoice."""
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        metadata = opened.Root.Metadata
        metadata.write(_with_terms(metadata.read_bytes().decode()).encode())
        saved = io.BytesIO()
        opened.save(
            saved,
            deterministic_id=True,
            object_stream_mode=pikepdf.ObjectStreamMode.generate,
        )
    return saved.getvalue()


def _with_terms(xmp: str) -> str:
    terms = "".join(f"<fx:{name}>{value}</fx:{name}>" for name, value in TERMS.items())
    described = f'<rdf:Description rdf:about="" xmlns:fx="{FACTUR_X}">{terms}</rdf:Description>'
    properties = "".join(
        '<rdf:li rdf:parseType="Resource"><pdfaProperty:category>external</pdfaProperty:category>'
        f"<pdfaProperty:description>{name} of the e-invoice</pdfaProperty:description>"
        f"<pdfaProperty:name>{name}</pdfaProperty:name>"
        "<pdfaProperty:valueType>Text</pdfaProperty:valueType></rdf:li>"
        for name in TERMS
    )
    schema = (
        '<rdf:li rdf:parseType="Resource"><pdfaSchema:schema>Factur-X</pdfaSchema:schema>'
        f"<pdfaSchema:namespaceURI>{FACTUR_X}</pdfaSchema:namespaceURI>"
        "<pdfaSchema:prefix>fx</pdfaSchema:prefix>"
        f"<pdfaSchema:property><rdf:Seq>{properties}</rdf:Seq></pdfaSchema:property></rdf:li>"
    )
    schemas, end = "</rdf:Bag></pdfaExtension:schemas>", "</rdf:RDF>"
    return xmp.replace(schemas, schema + schemas).replace(end, described + end)


if __name__ == "__main__":
    main()
