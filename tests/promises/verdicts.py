"""What a trial shows: whether the tests of a guard fail without it, and by what they assert."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.promises.rows import Guard

Case = Mapping[str, str]
# What pytest returns when tests ran: all passed, or some failed.
RAN = (0, 1)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """`fault` is empty where the guard was found to be needed, and says otherwise what was seen."""

    guard: Guard
    fault: str
    seconds: float = 0


def judge(guard: Guard, status: int, cases: Sequence[Case]) -> str:
    """Return what is wrong with a trial without the guard: nothing if every test was red.

    A test with parameters is red if one of its cases is. A test that could not be collected or set
    up, or that fails by another exception than the guard's rows allow, is no proof.
    """
    if status not in RAN:
        return f"pytest did not run (status {status})"
    faults = (_find_fault(test, guard.raised, cases) for test in guard.tests)
    return "; ".join(filter(None, faults))


def _find_fault(test: str, raised: Sequence[str], cases: Sequence[Case]) -> str:
    own = cases_of(test, cases)
    if not own:
        return f"{test} did not run"
    failed = [each for each in own if each["outcome"] == "failed"]
    if not failed:
        return f"{test} stays green"
    if any(each["when"] == "call" and each["raised"] in raised for each in failed):
        return ""
    seen = sorted({f"{each['raised']} in {each['when']}" for each in failed})
    return f"{test} fails by no assertion: {', '.join(seen)}"


def cases_of(test: str, cases: Sequence[Case]) -> list[Case]:
    return [each for each in cases if each["id"] == test or each["id"].startswith(f"{test}[")]


def find_not_green(tests: Sequence[str], status: int, cases: Sequence[Case]) -> list[str]:
    """Return the tests that did not pass in whole while all guards stood, or did not run."""
    if status not in RAN:
        return [*tests]
    return [test for test in tests if not _is_green(cases_of(test, cases))]


def _is_green(own: Sequence[Case]) -> bool:
    is_passed = any(each["outcome"] == "passed" for each in own)
    return is_passed and not any(each["outcome"] == "failed" for each in own)
