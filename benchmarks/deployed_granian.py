"""Runs granian as it is deployed, without watchfiles: it imports what FastMCP happens to bring."""

import sys

# In the process of the worker, too, which imports this module anew.
sys.modules["watchfiles"] = None  # type: ignore[assignment]  so that its import fails

if __name__ == "__main__":
    from granian.cli import entrypoint

    entrypoint()
