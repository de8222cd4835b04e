"""From the first draft to the number, as the links of the OpenAPI document lead."""

import pytest

from tests.factories import CustomerFactory
from tests.fuzzing.effort import PLAYED, tally

pytestmark = [*PLAYED, pytest.mark.django_db]


def test_no_journey_along_the_links_issues_what_nobody_approved(agent, customer, tax_rate):
    """Import schemathesis only where it runs: that takes a second, in every worker."""
    from tests.fuzzing.journeys import run_journeys  # noqa: PLC0415  as said

    customers = [str(customer.id), str(CustomerFactory.create().id)]
    run_journeys(str(agent.credential), customers, examples=2, steps=10)
    assert tally["calls of journeys"] > 0
