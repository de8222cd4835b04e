import csv
import hashlib
import io
import os
import zipfile
from typing import Self

import pytest
from typing_extensions import override

from invoicing.e_invoices.kinds import Kind
from invoicing.exports.archive import write_archive
from invoicing.models import Document, Original
from invoicing.originals import periods
from invoicing.pdf.making import PdfMaker
from tests.factories import CustomerFactory, make_issued
from tests.invoicing.exports.files import download, reading

pytestmark = pytest.mark.django_db

INDEX_HEAD = [
    *("Number", "Type", "Issue date", "Customer number", "Customer"),
    *("Currency", "Net total", "Tax total", "Grand total"),
    *("Kind", "File", "SHA-256", "Bytes", "Why it is missing"),
]


@pytest.fixture
def makers(monkeypatch):
    """The makers of PDFs that were begun."""
    begun = []

    class Counted(PdfMaker):
        @override
        def __enter__(self) -> Self:
            begun.append(self)
            return super().__enter__()

    monkeypatch.setattr(periods, "PdfMaker", Counted)
    return begun


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_originals_leave_as_a_zip_with_an_index_that_fits(sign_in, delegate, makers):
    wanting = CustomerFactory.create(name="+Acme", customer_number="10001", e_invoice=Kind.PEPPOL)
    first = make_issued(user=delegate, customer=wanting)
    second = make_issued(user=delegate, customer=CustomerFactory.create(name="Berg"))
    content = download(sign_in(delegate), "originals")
    with zipfile.ZipFile(io.BytesIO(content)) as read:
        assert read.testzip() is None
        files = {name: read.read(name) for name in read.namelist()}
        assert {each.compress_type for each in read.infolist()[:-1]} == {zipfile.ZIP_STORED}
    assert list(files) == ["INV-2026-0001.pdf", "INV-2026-0002.pdf", "index.csv"]
    index = list(csv.reader(io.StringIO(files["index.csv"].decode("utf-8-sig"), newline="")))

    def told(document: Document, customer_number: str, name: str) -> list[str]:
        made = files[f"{document.number}.pdf"]
        digest = hashlib.sha256(made).hexdigest()
        head = [str(document.number), "Invoice", "2026-03-02", customer_number, name, *totals]
        return [*head, "PDF", f"{document.number}.pdf", digest, str(len(made)), ""]

    totals = ["EUR", "100.00", "0.00", "100.00"]
    named = [first.number, "Invoice", "2026-03-02", "10001", "'+Acme"]
    missing = [*named, *totals, "Peppol", "", "", ""]
    assert index[:2] == [INDEX_HEAD, told(first, "10001", "'+Acme")]
    assert index[2][:-1] == missing
    assert "A line without a tax rate has no category yet." in index[2][-1]
    assert index[3:] == [told(second, "", "Berg")]
    assert [bytes(each.content) for each in Original.objects.order_by("document__number")] == [
        files["INV-2026-0001.pdf"],
        files["INV-2026-0002.pdf"],
    ]
    assert len(makers) == 1


def test_a_client_that_goes_away_ends_the_child_and_the_work(delegate, makers):
    documents = [make_issued(user=delegate) for _ in range(2)]
    chunks = write_archive(reading(delegate, *documents))
    assert next(chunks)
    [maker] = makers
    pid = maker._child.pid
    assert is_running(pid)
    chunks.close()
    assert not is_running(pid)
    assert Original.objects.count() == 1


def test_what_is_kept_already_takes_no_child(delegate, makers):
    document = make_issued(user=delegate)
    Original.objects.create(
        document=document, kind="pdf", content=b"%PDF", digest="0" * 64, made_with={}
    )
    content = b"".join(write_archive(reading(delegate, document)))
    with zipfile.ZipFile(io.BytesIO(content)) as read:
        assert read.read("INV-2026-0001.pdf") == b"%PDF"
    assert makers[0]._child is None
