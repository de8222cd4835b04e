"""Counts the lines of code of the product and of the tests: `python -m benchmarks.code_lines`.

A line counts if it holds code: no blank line, comment or docstring. Migrations are left out.
"""

import ast
import io
import tokenize
from pathlib import Path

from config.environment import PROJECT_FOLDER

PRODUCT = ("agent_access", "config", "invoicing", "mcp_gateway")
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}


def count_lines(path: Path) -> int:
    """Return how many lines of a module hold code."""
    text = path.read_text(encoding="utf-8")
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines: set[int] = set()
    for token in tokens:
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - _docstring_lines(text))


def _docstring_lines(text: str) -> set[int]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    lines: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            lines.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return lines


def count_folder(*names: str) -> int:
    """Return the lines of code below these folders."""
    files = [path for name in names for path in (PROJECT_FOLDER / name).rglob("*.py")]
    return sum(count_lines(path) for path in files if "migrations" not in path.parts)


if __name__ == "__main__":
    print(f"product: {count_folder(*PRODUCT):,} lines")  # noqa: T201  the command's answer
    print(f"tests: {count_folder('tests'):,} lines")  # noqa: T201  the command's answer
