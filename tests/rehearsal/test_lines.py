"""The rehearsal runs what the document says, and can fail."""

import pytest

from tests.rehearsal.lines import (
    BACKUP,
    DAMAGED,
    MOMENT,
    archiving_settings,
    base_script,
    restore_script,
    series_statements,
)
from tests.rehearsal.steps import Findings, require

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite


def test_every_place_and_moment_that_a_run_replaces_is_in_the_document():
    assert BACKUP in archiving_settings()
    assert BACKUP in base_script()
    for told in (BACKUP, DAMAGED, f"recovery_target_time = '{MOMENT}'"):
        assert told in restore_script()
    assert "2027, 12)" in series_statements(year=2027, last_number=12)


def test_a_script_is_what_an_operator_types():
    assert base_script().startswith("pg_basebackup ")
    assert "\nEND\ntouch " in restore_script()
    assert "$ " not in restore_script()


def test_what_is_not_as_said_is_in_the_table_and_makes_the_run_fail():
    findings = Findings(invoices=1, restore_seconds=2.5)
    findings.note("is so", lambda: require(is_so=True, words=""))
    assert findings.are_clean
    findings.note("is not so", lambda: require(is_so=False, words="3 tables\ndiffer"))
    assert not findings.are_clean
    assert "| is so | yes |\n| is not so | 3 tables differ |" in findings.table()
