"""The lines to paste: as many as the grants allow, for the address at hand."""

import re
from pathlib import Path

import pytest

from invoicing.quickstart.authority import find_authority
from invoicing.quickstart.first_steps import FirstSteps

# What is written is the same on both databases: once is enough.
pytestmark = pytest.mark.sqlite

SCOPES = ["customers:read", "invoices:read", "invoices:prepare", "invoices:execute"]
ACTS = [
    ["tools"],
    ["customers?limit=1"],
    ["documents/preview"],
    ["drafts", "documents/$DRAFT_ID", "drafts/$DRAFT_ID"],
    ["documents/$DRAFT_ID/issue-approvals", "approvals/$APPROVAL_ID"],
]


def make_steps(grants: list[str], authority: Path | None = None) -> FirstSteps:
    return FirstSteps(
        base_url="https://invoices.example",
        credential="ivc_...",
        grants=grants,
        authority=authority,
    )


@pytest.mark.parametrize("length", range(5))
def test_the_lines_go_as_far_as_the_grants(length):
    lines = make_steps(["people:read", *SCOPES[:length]]).write()
    called = re.findall(r'\$API/([^\s")]+)', lines.replace("/execute\n", "\n"))
    wanted = [path for paths in ACTS[: length + 1] for path in paths]
    assert list(dict.fromkeys(called)) == wanted


def test_a_missing_grant_ends_the_lines_before_what_builds_on_it():
    assert make_steps(SCOPES[1:]).write() == make_steps([]).write()


def test_only_an_authority_of_this_machine_is_named():
    public, local = make_steps([]), make_steps([], Path("/my house/ca.pem"))
    assert public.write_secrets() == "CREDENTIAL=ivc_...\n"
    assert local.write_secrets() == "CREDENTIAL=ivc_...\nCA='/my house/ca.pem'\n"
    assert local.write().replace(' --cacert "$CA"', "") == public.write()
    export = 'export NODE_EXTRA_CA_CERTS="$CA"\n'
    assert local.write_for_mcp() == export + public.write_for_mcp()


def test_a_public_address_needs_no_authority_of_this_machine(tmp_path):
    local = "https://localhost:8443"
    assert find_authority(tmp_path, base_url=local) is None
    (tmp_path / "ca.pem").touch()
    assert find_authority(tmp_path, base_url=local) == tmp_path / "ca.pem"
    assert find_authority(tmp_path, base_url="https://invoices.example") is None


def test_no_line_breaks_in_an_interactive_shell():
    lines = make_steps(SCOPES).write() + make_steps(SCOPES).write_for_mcp()
    assert lines.isascii()
    # zsh would run a comment, and a space after the backslash would end the line.
    unfit = [each for each in lines.splitlines() if each.startswith("#") or each != each.rstrip()]
    assert unfit == []
