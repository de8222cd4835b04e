"""Measures the product beside its peers, and writes down what came of it."""

import json
import os
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

from benchmarks import product
from benchmarks.floor import Floor
from benchmarks.load import load_product
from benchmarks.machine import describe_machine
from benchmarks.measuring import measure_concurrently, measure_in_turns
from benchmarks.peers import fastmcp_subject
from benchmarks.peers.drf import subject as drf_subject
from benchmarks.peers.drf.subject import DrfPeer
from benchmarks.product import Product
from benchmarks.report import write_results
from benchmarks.subjects import Subject
from tests.postgresql import find_binaries, run_cluster

CONCURRENT_CLIENTS = 8
# Where the product and DRF have the records of an answer.
ENVELOPES = {"read": ("data", None), "list": ("data", "results")}


@dataclass(frozen=True, kw_only=True)
class Participants:
    """All that is measured."""

    product: Product
    drf: DrfPeer
    fastmcp: Subject
    floor: Floor
    database_urls: tuple[str, ...]

    def subjects(self) -> list[Subject]:
        ours, over_mcp = self.product.subjects()
        return [self.floor.subject(), ours, self.drf.subject(), over_mcp, self.fastmcp]

    def analyze(self) -> None:
        """Let PostgreSQL count the rows, as it does by itself within a minute.

        Until then it goes on with plans for empty tables, which read every row.
        """
        for url in self.database_urls:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("ANALYZE")


@contextmanager
def set_up(folder: Path) -> Iterator[Participants]:
    """Serve all that is measured, on databases of one PostgreSQL, with fsync on."""
    binaries = find_binaries()
    if binaries is None:
        raise SystemExit("No PostgreSQL was found to measure with.")
    with ExitStack() as stack:
        url = stack.enter_context(run_cluster(binaries, folder / "postgresql", fsync=True)).url()
        ours, theirs = (_make_database(url, name) for name in ("product", "drf"))
        drf = stack.enter_context(drf_subject.serve(theirs, folder, dict(os.environ)))
        served = stack.enter_context(product.serve(ours, folder))
        fastmcp = stack.enter_context(
            fastmcp_subject.serve(
                ours,
                folder,
                document_id=served.document_id,
                next_credential=served.next_credential,
            )
        )
        floor = stack.enter_context(closing(Floor(ours, served.references)))
        yield Participants(
            product=served, drf=drf, fastmcp=fastmcp, floor=floor, database_urls=(ours, theirs)
        )


def _make_database(url: str, name: str) -> str:
    parts = urlsplit(url)
    with psycopg.connect(parts._replace(path="/postgres").geturl(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return parts._replace(path=f"/{name}").geturl()


def require_same_fields(ours: Subject, theirs: Subject) -> None:
    """Raise AssertionError unless DRF answers the fields that the product answers."""
    for operation, (in_ours, in_theirs) in ENVELOPES.items():
        [our_step], [their_step] = (each.operations[operation](1) for each in (ours, theirs))
        our_fields = _fields(json.loads(our_step())[in_ours])
        their_answer = json.loads(their_step())
        their_fields = _fields(their_answer[in_theirs] if in_theirs else their_answer)
        if our_fields != their_fields:
            raise AssertionError(f"{operation}: {our_fields} is not {their_fields}")


def _fields(value: Any) -> Any:
    """Return the names in a record, or in the first one of a list."""
    if isinstance(value, list):
        return [_fields(each) for each in value[:1]]
    if isinstance(value, dict):
        return {name: _fields(each) for name, each in value.items()}
    return None


def measure(participants: Participants, options: Namespace) -> dict[str, Any]:
    """Return every figure, ready to be written down."""
    measure_in_turns(participants.subjects(), rounds=0, requests=options.requests)
    participants.analyze()
    results = measure_in_turns(
        participants.subjects(), rounds=options.rounds, requests=options.requests
    )
    rates = measure_concurrently(
        {"product": participants.product.execute_steps, "DRF": participants.drf.issue_steps},
        rounds=options.rounds,
        clients=CONCURRENT_CLIENTS,
        share=options.issues // CONCURRENT_CLIENTS,
    )
    return {
        "work": {
            operation: {name: figures.summary() for name, figures in by_subject.items()}
            for operation, by_subject in results.items()
        },
        "issues_a_second": {name: round(rate) for name, rate in rates.items()},
        "gaps": participants.product.sample.count_gaps(),
        "start_seconds": round(participants.product.start_seconds, 2),
        "mebibytes": load_product(participants.product, requests=options.load),
    }


def main() -> None:
    parser = ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10, help="in which all take turns")
    parser.add_argument("--requests", type=int, default=40, help="of each kind in a round")
    parser.add_argument("--issues", type=int, default=160, help="by eight at once in a round")
    parser.add_argument("--load", type=int, default=10_000, help="requests before memory is read")
    options = parser.parse_args()
    machine = describe_machine()
    with tempfile.TemporaryDirectory(prefix="invoicing-benchmarks-") as name:
        folder = Path(name)
        folder.chmod(0o711)  # PostgreSQL's account passes through to its own folder inside
        with set_up(folder) as participants:
            require_same_fields(participants.product.subjects()[0], participants.drf.subject())
            figures = measure(participants, options)
    write_results({"machine": machine, "options": vars(options), **figures})


if __name__ == "__main__":
    main()
