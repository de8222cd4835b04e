"""Reads the CSV files of the sample company in this folder."""

import csv
from pathlib import Path

Row = dict[str, str]


def read_table(name: str) -> list[Row]:
    """Return the rows of a table, each by its column names."""
    with (Path(__file__).parent / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def split_cell(cell: str) -> list[str]:
    """Return the entries of a cell that holds several."""
    return [entry for entry in cell.split(";") if entry]
