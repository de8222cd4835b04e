"""A person with a passkey, and a request of their agent that they sign."""

import pytest

from agent_access.passkeys.models import Passkey
from tests.passkeys import SoftPasskey
from tests.signing import Asked, ask, demand


@pytest.fixture
def soft() -> SoftPasskey:
    return SoftPasskey(counter=5)


@pytest.fixture
def kept(soft, delegate) -> Passkey:
    kept: Passkey = soft.keep_for(delegate, is_apart=True)
    return kept


@pytest.fixture
def desk(sign_in, delegate, kept):
    return sign_in(delegate)


@pytest.fixture
def asked(agent, desk, draft_body) -> Asked:
    demand(always=True)
    return ask(agent, desk, draft_body)
