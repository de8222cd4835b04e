"""The figures that people read are those of the last run."""

import json
import socket
from contextlib import closing
from functools import partial
from threading import Thread
from typing import Any

import pytest

from benchmarks import measuring
from benchmarks.__main__ import require_same_fields
from benchmarks.http_client import HttpClient, UnexpectedAnswerError, format_request
from benchmarks.measuring import Figures, measure_in_turns, run_concurrently
from benchmarks.plot import draw_bars
from benchmarks.report import BEGIN, END, GOALS, PLOT, README, RESULTS, SUBJECTS, format_section
from benchmarks.subjects import PrepareClients, Step, Subject

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
)
MEASURED = b"HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nhello"


@pytest.fixture
def results():
    return json.loads(RESULTS.read_text(encoding="utf-8"))


def test_the_readme_shows_the_last_run(results):
    text = README.read_text(encoding="utf-8")
    assert text.partition(BEGIN)[2].partition(END)[0] == format_section(results)


def test_the_plot_shows_the_last_run(results):
    assert PLOT.read_text(encoding="utf-8") == draw_bars(results["work"], SUBJECTS)


def test_a_goal_is_met_up_to_its_bound(results):
    goal = next(goal for goal in GOALS if goal.promise == "at most 1.5 ms of server CPU")
    figures = results["work"]["read"]["product"]
    for cpu, is_met in ((1.5, True), (1.501, False)):
        figures["cpu_ms"] = cpu
        assert goal.is_met(results) is is_met


def test_figures_are_medians_and_shares_of_the_time_spent():
    figures = Figures()
    figures.add([0.001, 0.002, 0.009], 0.006)
    figures.add([0.003], 0.002)
    assert figures.summary() == {"requests": 4, "p50_ms": 2.5, "p99_ms": 9.0, "cpu_ms": 2.0}


def test_subjects_take_turns_and_the_first_round_is_not_counted():
    done: list[str] = []

    def make_subject(name: str) -> Subject:
        return Subject(name, {"work": lambda amount: [lambda: done.append(name)] * amount})

    subjects = [make_subject("a"), make_subject("b")]
    results = measure_in_turns(subjects, rounds=2, requests=2)
    assert done == ["a", "a", "b", "b"] * 3
    assert {name: len(each.seconds) for name, each in results["work"].items()} == {"a": 4, "b": 4}


def test_of_clients_at_once_the_median_of_the_rounds_counts_without_the_first(monkeypatch):
    rates = {"a": iter([1, 10, 30]), "b": iter([500, 2, 4])}
    monkeypatch.setattr(measuring, "run_concurrently", lambda clients: next(rates[clients[0][0]()]))

    def make_prepare(name: str) -> PrepareClients:
        return lambda share, clients: [[lambda: name] * share] * clients

    subjects = {name: make_prepare(name) for name in rates}
    figures = measuring.measure_concurrently(subjects, rounds=2, clients=2, share=1)
    assert figures == {"a": 20, "b": 3}


def answering(name: str, answers: dict[str, Any]) -> Subject:
    def prepare(operation: str, amount: int) -> list[Step]:
        return [lambda: json.dumps(answers[operation])] * amount

    return Subject(name, {operation: partial(prepare, operation) for operation in answers})


RECORD = {"id": 1, "lines": [{"unit": "h"}]}
PRODUCT = answering("product", {"read": {"data": RECORD}, "list": {"data": [RECORD]}})


def test_a_peer_may_answer_other_values_of_the_same_fields():
    other = {"id": "b", "lines": [{"unit": None}, {}]}
    require_same_fields(PRODUCT, answering("DRF", {"read": other, "list": {"results": [other]}}))


@pytest.mark.parametrize("other", [{"id": 1}, {"id": 1, "lines": [{"unit": "h", "net": 1}]}])
@pytest.mark.parametrize("operation", ["read", "list"])
def test_the_run_ends_where_a_peer_answers_other_fields(operation, other):
    answers = {"read": RECORD, "list": {"results": [RECORD]}}
    answers[operation] = {"read": other, "list": {"results": [other]}}[operation]
    with pytest.raises(AssertionError, match=operation):
        require_same_fields(PRODUCT, answering("DRF", answers))


def test_an_error_of_one_client_ends_the_run():
    with pytest.raises(ZeroDivisionError):
        run_concurrently([[lambda: None], [lambda: 1 / 0]])


def answer_once(answer: bytes) -> int:
    """Serve one connection with this answer; return the port."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with listening, listening.accept()[0] as connection:
            connection.recv(1000)
            connection.sendall(answer)

    Thread(target=serve).start()
    port: int = listening.getsockname()[1]
    return port


@pytest.mark.parametrize(
    ("answer", "status", "body"), [(CHUNKED, 200, b"hello world"), (MEASURED, 201, b"hello")]
)
def test_the_client_reads_a_body_of_either_form(answer, status, body):
    with closing(HttpClient(answer_once(answer))) as client:
        assert client.exchange(format_request("GET", "/", {}), status=status) == body


def test_the_client_refuses_another_status():
    with (
        closing(HttpClient(answer_once(MEASURED))) as client,
        pytest.raises(UnexpectedAnswerError, match="201 Created"),
    ):
        client.exchange(format_request("GET", "/", {}))
