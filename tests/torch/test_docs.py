"""docs/torch.md: every example runs, says what is true, and no helper is left out."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "torch.md"
RESULT = re.compile(r"  # -> (.+)$")


def examples() -> list[tuple[int, str]]:
    """(line, source) of each Python block of the page."""
    text = PAGE.read_text()
    blocks = re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [(text[: block.start(1)].count("\n"), block[1]) for block in blocks]


def run(source: str, first_line: int, names: dict[str, Any]) -> None:
    """Run a block; where a line says `expression  # -> value`, they must be equal."""
    lines = source.splitlines()
    for statement in ast.parse(source).body:
        code = ast.Module([statement], [])
        ast.increment_lineno(code, first_line)
        result = RESULT.search(lines[statement.end_lineno - first_line - 1])  # type: ignore[operator]
        if result and isinstance(statement, ast.Expr):
            value = eval(compile(ast.Expression(statement.value), str(PAGE), "eval"), names)
            assert value == ast.literal_eval(result[1]), f"{PAGE.name}:{statement.end_lineno}"
        else:
            exec(compile(code, str(PAGE), "exec"), names)


@pytest.mark.ranks
def test_the_examples_run_in_order(shared_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shared_path)
    names: dict[str, Any] = {}
    for first_line, source in examples():
        run(source, first_line, names)
    assert names["start"] == 4, "the page was run to its end"


def test_every_helper_is_on_the_page() -> None:
    import hvdkit.torch as hvd

    ours = [
        name
        for name, value in vars(hvd).items()
        if callable(value) and getattr(value, "__module__", "").startswith("hvdkit.torch.") and name[0] != "_"
    ]
    assert len(ours) > 20
    shown = "".join(source for _, source in examples())
    errors = {"HorovodMissingError", "FailedElsewhereError", "Context", "require_horovod"}
    assert [name for name in ours if name not in errors and f"hvd.{name}(" not in shown] == []
