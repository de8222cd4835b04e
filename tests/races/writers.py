"""The public functions of the product that write, found in its source; and which of them ran."""

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

from typing_extensions import override

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("agent_access", "invoicing", "mcp_gateway")
# What runs before there is anybody to race with, or is a page around the services below it.
LEFT_OUT = ("migrations", "quickstart", "sample_company", "testing", "management", "admin")
TRANSACTIONS = {"atomic", "act_of", "locked_administration", "take_locks"}
WRITES = {"create", "get_or_create", "update_or_create", "bulk_create", "bulk_update"}
# Of a queryset or record these have no argument by position, as those of dicts and forms do.
UNLIKE_DICTS = {"update", "delete", "save"}


class Writer(NamedTuple):
    """A function by its file below the root, and its name in there."""

    path: str
    name: str

    @override
    def __str__(self) -> str:
        return f"{self.path}: {self.name}"


def find_writers() -> set[Writer]:
    """Return what writes, itself or by a private function beside it, and is not private."""
    return {
        Writer(str(path.relative_to(ROOT)), name)
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if not set(LEFT_OUT) & set(path.relative_to(ROOT).parts)
        for name in _find_in(ast.parse(path.read_text(encoding="utf-8")))
        if not any(part.startswith("_") for part in name.split("."))
    }


def _find_in(module: ast.Module) -> set[str]:
    functions = dict(_name_functions(module, ""))
    writing = {name for name, each in functions.items() if _writes(each)}
    while more := {
        name
        for name, each in functions.items()
        if name not in writing and _calls(each) & {w for w in writing if w.startswith("_")}
    }:
        writing |= more
    return writing


def _name_functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.FunctionDef):
            yield prefix + each.name, each
        elif isinstance(each, ast.ClassDef):
            yield from _name_functions(each, f"{prefix}{each.name}.")


def _calls(function: ast.FunctionDef) -> set[str]:
    return {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}


def _writes(function: ast.FunctionDef) -> bool:
    decorators = {ast.unparse(each).rpartition(".")[2] for each in function.decorator_list}
    return bool(decorators & TRANSACTIONS) or any(map(_is_write, ast.walk(function)))


def _is_write(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func).rpartition(".")[2]
    if name in UNLIKE_DICTS:
        is_named = bool(node.keywords) or name == "delete"
        return isinstance(node.func, ast.Attribute) and not node.args and is_named
    return name in TRANSACTIONS or (name in WRITES and "objects" in ast.unparse(node.func))


@contextmanager
def watch(ran: set[Writer]) -> Iterator[None]:
    """Add what this thread calls, of the packages, to the set."""
    known: set[CodeType] = set()

    def see(frame: FrameType, _: str, __: Any) -> None:
        code = frame.f_code
        if code not in known:
            known.add(code)
            if code.co_filename.startswith(str(ROOT)):
                path = str(Path(code.co_filename).relative_to(ROOT))
                ran.add(Writer(path, code.co_qualname))

    # Of a trace function that returns nothing Python asks no more than the beginning of each call.
    sys.settrace(see)
    try:
        yield
    finally:
        sys.settrace(None)


def watched(run: Callable[..., Any], ran: set[Writer]) -> Callable[..., Any]:
    """Return the function, which then tells what it called."""

    def run_watched(*args: Any) -> Any:
        with watch(ran):
            return run(*args)

    return run_watched
