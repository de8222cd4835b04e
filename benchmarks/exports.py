"""Measures what exports of many documents take: time, and by how much the process grows.

    python -m benchmarks.exports --documents 10000

prints the table that benchmarks/README.md keeps. It fills a PostgreSQL of its own, with an original
of 20 kB for each document, and takes each file whole, as a client does.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from threading import Event, Thread
from time import perf_counter

import django

from benchmarks.machine import describe_machine
from benchmarks.scratch import sample_company

ORIGINAL_BYTES = 20_000
BATCH = 500
PAUSE = 0.01
MIB = 2**20


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.exports", allow_abbrev=False)
    parser.add_argument("--documents", type=int, default=10_000)
    documents = parser.parse_args().documents
    sys.stdout.write(", ".join(describe_machine().values()) + "\n\n")
    sys.stdout.flush()
    with sample_company():
        fill(documents)
        # In a process of its own: what this one has freed would be used, and not be seen to grow.
        measuring = get_context("spawn").Process(target=measure_files)
        measuring.start()
        measuring.join()
    return measuring.exitcode or 0


def measure_files() -> None:
    """Print the table of the files."""
    django.setup(set_prefix=False)
    sys.stdout.write("| File | MiB | seconds | growth in MiB |\n|---|---|---|---|\n")
    for name, write in files():
        size, seconds, growth = measure(write)
        sys.stdout.write(f"| {name} | {size / MIB:.0f} | {seconds:.1f} | {growth / MIB:.1f} |\n")


def fill(count: int) -> None:
    """Write so many issued documents of ten lines, and an original of each."""
    # Models can be read from here on only.
    from benchmarks.bulk_documents import NewDocument, write_documents  # noqa: PLC0415  see above
    from invoicing.models import Customer, DatevSettings, Document, Original, TaxCategory, User  # noqa: PLC0415  see above
    from tests.factories import ISSUED_AT, draft_input, line_input  # noqa: PLC0415  see above

    customer, author = Customer.objects.filter(is_active=True)[0], User.objects.all()[0]
    Customer.objects.update(customer_number="10001")
    DatevSettings.objects.create(
        adviser=1001, client=1, accounts=dict.fromkeys(TaxCategory, "8400")
    )
    draft = draft_input(customer, *[line_input()] * 10)
    new = NewDocument(author=author, draft=draft, issued_at=ISSUED_AT)
    for _ in range(0, count, BATCH):
        write_documents([new] * BATCH)
        made = Document.objects.filter(status="issued", originals=None)
        Original.objects.bulk_create(
            Original(document=each, kind="pdf", content=content, digest=digest, made_with={})
            for each in made
            for content in [os.urandom(ORIGINAL_BYTES)]
            for digest in [sha256(content).hexdigest()]
        )


def files() -> Iterator[tuple[str, Callable[[], Iterator[bytes]]]]:
    """Yield what each file is called, and what writes it: the largest first, as above."""
    from django.utils import timezone  # noqa: PLC0415  as above

    from invoicing.exports.archive import write_archive  # noqa: PLC0415  as above
    from invoicing.exports.datev import write_bookings  # noqa: PLC0415  as above
    from invoicing.exports.datev_format import MOST_BOOKINGS  # noqa: PLC0415  as above
    from invoicing.exports.selection import Selection, read_documents  # noqa: PLC0415  as above
    from invoicing.exports.tables import write_documents, write_lines  # noqa: PLC0415  as above
    from invoicing.models import User  # noqa: PLC0415  as above

    user = User.objects.get(email="dana@halden.example")
    march = Selection(date(2026, 3, 2), date(2026, 3, 2), currency_code="EUR")
    pks = list(march.documents(user).values_list("pk", flat=True))
    read = partial(read_documents, pks, lambda: user)
    yield "originals", lambda: write_archive(read)
    yield "documents", lambda: write_documents(read)
    yield "lines, ten of each", lambda: write_lines(read)
    booked = partial(read_documents, pks[:MOST_BOOKINGS], lambda: user)
    yield "bookings", lambda: write_bookings(booked, march, now=timezone.now())


def measure(write: Callable[[], Iterator[bytes]]) -> tuple[int, float, int]:
    """Return the bytes of a file, the seconds, and by how much the process grew meanwhile."""
    before, peak, ended = resident(), [0], Event()

    def watch() -> None:
        while not ended.wait(PAUSE):
            peak[0] = max(peak[0], resident())

    watcher = Thread(target=watch)
    watcher.start()
    begun = perf_counter()
    try:
        size = sum(map(len, write()))
        seconds = perf_counter() - begun
    finally:
        ended.set()
        watcher.join()
    return size, seconds, max(peak[0] - before, 0)


def resident() -> int:
    """Return the resident set in bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    sys.exit(main())
