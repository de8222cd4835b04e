"""Reads the files of the sample company in this folder."""

import csv
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
COMPANY: dict[str, Any] = json.loads((FOLDER / "company.json").read_text(encoding="utf-8"))

Row = dict[str, str]


def read_table(name: str) -> list[Row]:
    """Return the rows of a table, each by its column names."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def split_cell(cell: str) -> list[str]:
    """Return the entries of a cell that holds several."""
    return [entry for entry in cell.split(";") if entry]
