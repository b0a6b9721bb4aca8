"""The Python blocks of a documentation page, run as one program."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

RESULT = re.compile(r"  # -> (.+)$")


def examples(page: Path) -> list[tuple[int, str]]:
    """(line, source) of each Python block of the page."""
    text = page.read_text()
    blocks = re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [(text[: block.start(1)].count("\n"), block[1]) for block in blocks]


def run(page: Path, source: str, first_line: int, names: dict[str, Any]) -> None:
    """Run a block; where a line says `expression  # -> value`, they must be equal."""
    lines = source.splitlines()
    for statement in ast.parse(source).body:
        code = ast.Module([statement], [])
        ast.increment_lineno(code, first_line)
        result = RESULT.search(lines[statement.end_lineno - first_line - 1])  # type: ignore[operator]
        if result and isinstance(statement, ast.Expr):
            value = eval(compile(ast.Expression(statement.value), str(page), "eval"), names)
            assert value == ast.literal_eval(result[1]), f"{page.name}:{statement.end_lineno}"
        else:
            exec(compile(code, str(page), "exec"), names)
