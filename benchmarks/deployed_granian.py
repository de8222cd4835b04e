"""Runs granian as it is deployed, without watchfiles: it imports what FastMCP happens to bring."""

import sys
from runpy import run_module
from typing import Any, cast

# In the process of the worker, too, which imports this module anew. None makes an import fail.
cast("dict[str, Any]", sys.modules)["watchfiles"] = None

if __name__ == "__main__":
    run_module("granian", run_name="__main__")
