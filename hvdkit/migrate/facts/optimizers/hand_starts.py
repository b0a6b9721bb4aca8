"""Where the training of a program that steps by hand begins: there all ranks get rank 0's weights.

It is above the outermost loop around the training in which the model stays the same one, in the outermost
function that has a name for it: what is loaded or copied before has happened by then.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.code.loops import Path
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.wraps import Wrap
from hvdkit.migrate.facts.models.written_models import NotShown, name_at
from hvdkit.migrate.facts.optimizers.hand_steps import TENSOR
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.reached_code import on_import
from hvdkit.migrate.facts.programs.training_paths import training_paths
from hvdkit.source.index.names import FUNCTIONS, LOOPS, Names


@dataclass(frozen=True)
class Start:
    """A statement before which models and tensors, as they are written there, are to be rank 0's."""

    names: Names
    statement: ast.stmt
    models: tuple[str, ...]
    tensors: tuple[str, ...]


def starts_of_training(
    facts: Facts, program: ProgramFacts, wraps: Sequence[Wrap], every: Sequence[Wrap]
) -> list[Start]:
    """The starts of a program's training. Raises NotShown where a model has no name at any."""
    found: dict[ast.stmt, tuple[Names, dict[str, str]]] = {}
    for path in training_paths(facts, program):
        for wrap in wraps:
            names, statement, text = _beginning(facts, path, wrap, every)
            if on_import(facts, names, statement):
                raise NotShown(f"{names.place(statement)} may run before hvd.init()")
            found.setdefault(statement, (names, {}))[1][text] = wrap.name
    return [
        Start(
            names,
            statement,
            tuple(sorted(text for text, kind in written.items() if kind != TENSOR)),
            tuple(sorted(text for text, kind in written.items() if kind == TENSOR)),
        )
        for statement, (names, written) in found.items()
    ]


def _beginning(facts: Facts, path: Path, wrap: Wrap, every: Sequence[Wrap]) -> tuple[Names, ast.stmt, str]:
    """The place, on one way to a backward pass, and what a model is called there."""
    problem = NotShown("its training was not found")
    for names, node in reversed(((path.names, path.backward), *path.calls)):
        try:
            text = name_at(facts, names, names.statement(node), wrap, every)
        except NotShown as reason:
            problem = reason
            continue
        return names, _above_loops(names, node, text), text
    raise problem


def _above_loops(names: Names, node: ast.AST, text: str) -> ast.stmt:
    """The outermost loop around a node, in its function, in which a name is not given something else."""
    found = names.statement(node)
    for parent in names.ancestors(node):
        if isinstance(parent, FUNCTIONS):
            break
        if isinstance(parent, LOOPS):
            if any(_stores(names, part, text) for part in names.walk(parent)):
                break
            found = parent
    return found


def _stores(names: Names, node: ast.AST, text: str) -> bool:
    """Whether a node gives a variable, or an attribute of that name, another value than `w -= x` does."""
    stored = isinstance(getattr(node, "ctx", None), ast.Store)
    if not stored or isinstance(names.parents[node], ast.AugAssign):
        return False
    if isinstance(node, ast.Attribute):
        return text.endswith(f".{node.attr}")
    return isinstance(node, ast.Name) and text.partition(".")[0] == node.id
