"""Where a program starts: lines that have to run first, and their place."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.main_guards import main_guard
from hvdkit.migrate.facts.keras.vocabulary import KINDS
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.facts.programs.reached_code import DEFINITIONS, start_below
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

IMPORTS = (ast.Import, ast.ImportFrom)


def at_start(names: Names, lines: Sequence[str]) -> Edit:
    """Lines put first under the main guard, or below the imports where something runs before it.

    Raises CannotEdit when nothing follows the imports.
    """
    anchor = anchor_import(names)
    guard = main_guard(names)
    if anchor is None:
        assert guard is not None
        return edits.at_start(names, guard.body, lines)
    return edits.after(names.source, anchor, ["", *lines])


def anchor_import(names: Names) -> ast.stmt | None:
    """The import below which the program starts; None when it starts under its main guard."""
    body = names.source.tree.body
    guard = main_guard(names)
    first = next((i for i, s in enumerate(body) if s is not guard and runs(s)), None)
    if first is None and guard is not None:
        return None
    end = len(body) if first is None else first
    above = [i for i, s in enumerate(body) if isinstance(s, IMPORTS) and i < end]
    frameworks = [i for i, s in enumerate(body) if isinstance(s, IMPORTS) and imports_framework(s)]
    places = above[-1:] + frameworks[:1]
    if not places:
        raise edits.CannotEdit("it imports nothing at its top")
    return body[max(places)]


def imports_framework(statement: ast.stmt) -> bool:
    """Whether an import brings TensorFlow or Keras."""
    tops = ("tensorflow", "keras", "tf_keras")
    if isinstance(statement, ast.Import):
        return any(alias.name.partition(".")[0] in tops for alias in statement.names)
    return isinstance(statement, ast.ImportFrom) and (statement.module or "").partition(".")[0] in tops


def runs(statement: ast.stmt) -> bool:
    """Whether a module-level statement calls something when the file is run."""
    if isinstance(statement, DEFINITIONS):
        return False
    if isinstance(statement, ast.Try) and any(isinstance(inner, IMPORTS) for inner in statement.body):
        return False
    return any(isinstance(node, (ast.Call, ast.For, ast.While, ast.With)) for node in ast.walk(statement))


def started(names: Names, node: ast.AST) -> bool:
    """Whether a module-level node runs after the lines that are put first."""
    anchor = anchor_import(names)
    guard = main_guard(names)
    if anchor is None:
        return guard is not None and guard in names.ancestors(node)
    return getattr(node, "lineno", 0) > anchor.lineno


def runs_started(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether Horovod has started where a node of a TensorFlow program runs: not during an import."""
    if names.function(node) is not None:
        return True
    entry = any(program.entry is names for program in programs_of(facts) if program.kind in KINDS)
    try:
        return entry and started(names, node)
    except edits.CannotEdit:
        return False


def start_lines(facts: Facts, names: Names) -> list[str]:
    """What starts Horovod in a script that was single-process."""
    return [f"{horovod_name(facts, names)}.init()", *device_lines(facts, names)]


def device_lines(facts: Facts, names: Names) -> list[str]:
    """What gives a process the GPU of its local rank, below hvd.init(); hvdkit's own does it itself."""
    if facts.options.target != "horovod":
        return []
    imported = (n for n, b in names.module.names.items() if b[0].qualified == "torch")
    torch = next(imported, None if "torch" in names.module.names else "torch")
    hvd = horovod_name(facts, names)
    pin = [f"if {torch}.cuda.is_available():", f"\t{torch}.cuda.set_device({hvd}.local_rank())"]
    return pin if torch is not None else []


def below_imports(facts: Facts, names: Names, lines: Sequence[str]) -> Edit:
    """Lines put below the imports, above the project's own code. Raises CannotEdit when nothing follows."""
    last = start_below(facts, names)
    if last is None or last is names.source.tree.body[-1]:
        raise edits.CannotEdit("nothing follows the imports")
    return edits.after(names.source, last, ["", *lines])
