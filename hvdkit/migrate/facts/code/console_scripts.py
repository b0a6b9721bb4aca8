"""Functions that an installed command runs: what stands beside their calls under a main guard is left out."""

from __future__ import annotations

import ast
import re

from hvdkit.migrate.facts.code.main_guards import main_guard
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.source.index.names import Names

DECLARING = frozenset(("pyproject.toml", "setup.py", "setup.cfg"))


def console_script(facts: Facts, names: Names) -> ast.FunctionDef | None:
    """The function that a file's main guard calls, and that its package declares as a command as well."""
    guard = main_guard(names)
    if guard is None:
        return None
    called = {call.func.id for call in names.calls_in(guard) if isinstance(call.func, ast.Name)}
    own = {s.name: s for s in names.source.tree.body if isinstance(s, ast.FunctionDef) and s.name in called}
    declared = commands(facts, names) if own else set()
    return next((function for name, function in own.items() if name in declared), None)


def first_statement(function: ast.FunctionDef) -> ast.stmt:
    """The first statement of a function below its docstring, or that where nothing else is there."""
    body = function.body
    return body[1] if ast.get_docstring(function) is not None and len(body) > 1 else body[0]


@once
def commands(facts: Facts, names: Names) -> set[str]:
    """The functions of a file that its package declares as commands: `train = "package.training:main"`."""
    path = names.source.path
    found: set[str] = set()
    for folder in path.parents:
        parts = path.relative_to(folder).with_suffix("").parts
        module = re.escape(".".join(parts[1:] if parts[0] == "src" else parts))
        for text in sorted(DECLARING & facts.project.folders.entries(folder)):
            declaring = facts.project.content(folder / text).decode("utf-8", "replace")
            found.update(re.findall(rf"=\s*[\"']?{module}\s*:\s*(\w+)", declaring))
    return found
