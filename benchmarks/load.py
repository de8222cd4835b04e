"""Many requests of every kind, and the memory of the worker that has answered them."""

from itertools import chain

from tqdm import tqdm

from benchmarks.product import Product

KINDS = ("read", "list", "create 10", "read over MCP")
REQUESTS_AT_ONCE = 100
READINGS = 5


def load_product(product: Product, *, requests: int) -> dict[int, float]:
    """Return the memory of the worker in MiB by the number of requests that it has answered."""
    memory = {}
    every = max(requests // READINGS, REQUESTS_AT_ONCE)
    for answered in tqdm(
        range(0, requests + 1, REQUESTS_AT_ONCE), desc="Load", leave=False, disable=None
    ):
        if answered % every == 0:
            memory[answered] = round(product.server.resident_mebibytes(), 1)
        share = REQUESTS_AT_ONCE // len(KINDS)
        for step in chain.from_iterable(product.prepare(kind, share) for kind in KINDS):
            step()
    return memory
