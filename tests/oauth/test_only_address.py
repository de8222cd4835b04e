"""A client with one return address need not name it, neither at the start nor at the exchange."""

import pytest

from tests.oauth.programs import RETURN_ADDRESS, parameters_of


@pytest.mark.parametrize("sent", [None, ""])
def test_a_client_with_one_return_address_may_leave_it_out(program, browser, delegate, sent):
    """RFC 6749 sections 3.1.2.3 and 4.1.3: then the exchange may leave it out, too."""
    path = program.authorize_path(redirect_uri=sent)
    assert f"<code>{RETURN_ADDRESS}</code>" in browser.open(path).content.decode()
    response = browser.allow(path, delegate)
    assert response["Location"].startswith(f"{RETURN_ADDRESS}?code=")
    wrong = program.exchange(parameters_of(response)["code"], redirect_uri="https://x.example/")
    assert (wrong.status, wrong.body["error"]) == (400, "invalid_grant")
    assert program.exchange(parameters_of(response)["code"], redirect_uri=sent).status == 200


def test_a_client_that_left_its_return_address_out_may_still_send_it_at_the_exchange(
    program, browser, delegate
):
    response = browser.allow(program.authorize_path(redirect_uri=None), delegate)
    assert program.exchange(parameters_of(response)["code"]).status == 200
