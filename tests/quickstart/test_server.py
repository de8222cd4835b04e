import signal
import socket
from threading import Thread

import pytest

from invoicing.quickstart.errors import QuickstartError
from invoicing.quickstart.ports import require_free_port
from invoicing.quickstart.server import _load_application, serve


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_taken_port_is_told_in_a_sentence(host):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(QuickstartError) as refused:
            require_free_port(f"https://{host}:{port}")

    assert str(refused.value) == (
        f"Port {port} is taken: stop what uses it, or choose another with --port."
    )


def test_a_worker_leaves_ctrl_c_to_the_process_that_started_it():
    seen: list[object] = []

    def work() -> None:
        loaded = _load_application("invoicing.quickstart.server.serve")
        seen.append((loaded, signal.pthread_sigmask(signal.SIG_BLOCK, [])))

    worker = Thread(target=work)
    worker.start()
    worker.join()

    assert seen == [(serve, {signal.SIGINT})]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
