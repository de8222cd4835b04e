"""What a result was made on."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path


def describe_machine() -> str:
    """Return the date, the processor and its cores, and the versions of what ran."""
    facts = [
        f"{datetime.now(UTC):%Y-%m-%d}",
        f"{os.cpu_count()} cores of {_read_processor()}",
        f"{platform.system()} {platform.release()}",
        f"Python {platform.python_version()}",
    ]
    return ", ".join(facts)


def _read_processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.machine()
