import socket

import pytest

from invoicing.quickstart.errors import QuickstartError
from invoicing.quickstart.ports import require_free_port


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_taken_port_is_told_in_a_sentence(host):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(QuickstartError) as refused:
            require_free_port(f"https://{host}:{port}")

    assert str(refused.value) == (
        f"Port {port} is taken: stop what uses it, or choose another with --port."
    )
