"""The alert rules and the dashboard ask for nothing that the service does not export."""

import json
import re
import shutil
import subprocess
from typing import Any

import pytest
import yaml
from django.utils import timezone
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from agent_access.approvals.models import Decision
from agent_access.models import AccessSettings
from agent_access.models.audit import Transport
from agent_access.request_facts import RequestFacts
from config.environment import PROJECT_FOLDER
from config.operations.daily_work import DailyWork
from config.operations.metrics import DECISIONS, count_request
from invoicing.visits import SignInOutcome
from tests.operations.test_metrics import all_refusals
from tests.test_documents import places_in

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

DEPLOY = PROJECT_FOLDER / "deploy"
OPERATIONS = PROJECT_FOLDER / "docs" / "operations.md"
RULES = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text(encoding="utf-8"))
ALERTS = {rule["alert"]: rule for group in RULES["groups"] for rule in group["rules"]}
DASHBOARD = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text(encoding="utf-8"))
PANELS = {panel["title"]: panel for panel in DASHBOARD["panels"]}
QUERIES = {
    **{name: [rule["expr"]] for name, rule in ALERTS.items()},
    **{name: [each["expr"] for each in panel["targets"]] for name, panel in PANELS.items()},
}

# A metric in a query, and what is asked of its labels.
METRIC = re.compile(r"\b([a-z_]+)(?:\{([^}]*)\}|\[)")
ASKED = re.compile(r'(\w+)(?:=|!=|=~|!~)"([^"]*)"')
GROUPED = re.compile(r"\bby \(([^)]*)\)")

# Prometheus itself makes this one.
OF_PROMETHEUS = {"up": {"job", "instance"}}


@pytest.fixture(scope="module")
def exported() -> dict[str, set[str]]:
    """Return the labels of each series of ours, as Prometheus reads them."""
    count_request(RequestFacts(), status=200, seconds=1)
    DECISIONS.labels(Decision.APPROVED).observe(1)
    families = text_string_to_metric_families(generate_latest().decode())
    work = DailyWork(lambda: AccessSettings(backed_up_at=timezone.now()))
    work.read()
    samples = [sample for family in (*families, *work.collect()) for sample in family.samples]
    return OF_PROMETHEUS | {
        sample.name: set(sample.labels)
        for sample in samples
        if sample.name.startswith(("http_", "approval_", "audit_", "backup_"))
    }


WORDS = {
    "transport": {*map(str, Transport), "none"},
    "outcome": {*(error.code for error in all_refusals()), *SignInOutcome, "ok", "none"},
    "status": {"200", "401", "404", "429", "500", "503"},
    "decision": {*map(str, Decision)},
    "job": {"invoicing"},
    "tool": {"none"},
}


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_asks_for_series_and_labels_that_are_exported(name, exported):
    for query in QUERIES[name]:
        asked = METRIC.findall(query)
        assert asked
        labels = {label for metric, _ in asked for label in exported[metric]}
        for metric, matchers in asked:
            for label, value in ASKED.findall(matchers):
                assert label in exported[metric]
                parts = value.split("|")
                fitting = [
                    part for part in parts if any(re.fullmatch(part, word) for word in WORDS[label])
                ]
                assert fitting == parts, label
        for group in GROUPED.findall(query):
            assert set(re.split(r",\s*", group)) <= labels


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_says_what_is_wrong_and_where_to_read_on(name):
    rule = ALERTS[name]
    assert set(rule["annotations"]) == {"summary", "runbook"}
    document, _, place = rule["annotations"]["runbook"].partition("#")
    assert place in places_in(PROJECT_FOLDER / document)
    shown = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
    kept = set(re.split(r",\s*", ",".join(GROUPED.findall(rule["expr"]))))
    assert shown <= kept
    assert rule["labels"]["severity"] in {"critical", "warning", "info"}


def test_every_alert_has_an_example_in_which_it_fires_and_one_in_which_it_does_not():
    examples = yaml.safe_load((DEPLOY / "prometheus" / "alerts.test.yml").read_text("utf-8"))
    well, broken = examples["tests"]
    assert {each["alertname"] for each in well["alert_rule_test"]} == set(ALERTS)
    [firing] = broken["promql_expr_test"]
    names = "".join(each["labels"] for each in firing["exp_samples"])
    assert set(re.findall(r'alertname="(\w+)"', names)) == set(ALERTS)


@pytest.mark.prove
def test_the_examples_of_alerts_come_out_as_they_say():
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is missing; Debian: apt-get install prometheus")
    examples = DEPLOY / "prometheus" / "alerts.test.yml"
    done = subprocess.run(  # noqa: S603  as its first lines say
        [promtool, "test", "rules", examples], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_a_panel_says_what_it_shows_and_covers_no_other():
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        assert panel["title"]
        assert panel["description"]
        place: dict[str, Any] = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken
        assert max(x for x, _ in cells) < 24  # as wide as Grafana is
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def test_the_document_lists_every_series_with_its_labels(exported):
    text = OPERATIONS.read_text(encoding="utf-8")
    text = text[text.index("\n## Metrics") :].partition("\n## ")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([a-z_]+)`([^|]*)\| (.*) \|$", text, re.MULTILINE)
    ours = {name: labels for name, labels in exported.items() if name not in OF_PROMETHEUS}
    for name, kind, told in rows:
        series = f"{name}_count" if "histogram" in kind else name
        assert ours[series] == set(re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", told)))
    families = {re.sub(r"_(bucket|count|sum)$", "", name) for name in ours}
    assert {name for name, *_ in rows} == families
