"""Variables that decide whether the processes join, and that a line can make say yes in each job of several.

`distributed = not args.noddp`, then `if distributed: dist.init_process_group(...)`, in a program that trains
either way: what a job of several ranks trains is one model, so there it has to say yes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.code.loops import training_loops
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.launch import launch_of
from hvdkit.migrate.facts.launch.launch_reach import tests_around
from hvdkit.source.index.names import Names


@dataclass(frozen=True)
class Gate:
    """A variable to be set above a statement.

    joins: what it has to be for the processes to join. by_option: whether an option decides.
    """

    names: Names
    statement: ast.If
    variable: str
    joins: bool
    by_option: bool


def gate_of(facts: Facts, names: Names, test: ast.expr, wanted: bool) -> Gate | None:
    """The gate that a test asks; None where a line above it would not reach all that asks it, or do more."""
    statement, asked = names.parents[test], test
    while isinstance(asked, ast.UnaryOp) and isinstance(asked.op, ast.Not):
        asked, wanted = asked.operand, not wanted
    if not isinstance(statement, ast.If) or names.source.is_elif(statement):
        return None
    if not isinstance(asked, (ast.Name, ast.Attribute)) or not _set_above(facts, names, asked, statement):
        return None
    if _about_devices(facts, names, asked) or not _trains_either_way(facts, asked, wanted):
        return None
    return Gate(names, statement, names.source.segment(asked), wanted, _by_option(facts, names, asked))


def _defined(facts: Facts, names: Names, asked: ast.expr) -> Iterator[tuple[Names, ast.AST]]:
    """The parts of what a variable is set to."""
    for origin in launch_of(facts).origins(names, asked):
        for part in ast.walk(origin.node):
            yield origin.names, part


def _by_option(facts: Facts, names: Names, asked: ast.expr) -> bool:
    options = launch_of(facts).options
    return any(
        isinstance(part, ast.Attribute) and bool(options.of(where, part.value, part.attr))
        for where, part in _defined(facts, names, asked)
    )


def _about_devices(facts: Facts, names: Names, asked: ast.expr) -> bool:
    """Whether a variable says which devices there are: `use_cuda`, which no job can decide."""
    asks = any(
        isinstance(part, (ast.Attribute, ast.Name)) and part_name.startswith("torch.cuda.")
        for where, part in _defined(facts, names, asked)
        for part_name in where.qualified(part)
    )
    written = ast.unparse(asked)
    chooses = (choice for choice in names.of_kind(ast.IfExp) if ast.unparse(choice.test) == written)
    return asks or any(
        isinstance(part, ast.Constant) and str(part.value).startswith("cuda")
        for choice in chooses
        for part in ast.walk(choice.body)
    )


def _set_above(facts: Facts, names: Names, asked: ast.Name | ast.Attribute, statement: ast.If) -> bool:
    """Whether a variable is set in the function of a statement, above it, and first read there."""
    bound = (
        [(names, binding) for binding in names.bindings(asked.id, asked)]
        if isinstance(asked, ast.Name)
        else facts.flow.stored(names, asked)
    )
    function = names.function(statement)
    lines = [getattr(binding.node, "lineno", 0) for _, binding in bound]
    here = all(
        where is names and binding.kind == "assign" and names.function(binding.node) is function
        for where, binding in bound
    )
    if not bound or not here or max(lines) >= statement.lineno or names.in_loop(statement):
        return False
    uses = names.uses.get(asked.id, ()) if isinstance(asked, ast.Name) else names.attributes[asked.attr]
    read = [use for use in uses if isinstance(use.ctx, ast.Load) and ast.dump(use) == ast.dump(asked)]
    between = [use for use in read if max(lines) < use.lineno < statement.lineno]
    # A test in which it is set anew is passed by then.
    before = [use for use in read if use.lineno <= max(lines) and not _sets_it(names, use, asked)]
    mine = [use for use in (*between, *before) if names.function(use) is function]
    return not mine and not any(names.function(use) is None for use in (*between, *before))


def _sets_it(names: Names, use: ast.AST, asked: ast.expr) -> bool:
    """Whether a use is in the test of an `if`, or in a value, that only sets the variable itself."""
    around = names.statement(use)
    stores = [part for part in ast.walk(around) if isinstance(getattr(part, "ctx", None), ast.Store)]
    return bool(stores) and all(ast.unparse(part) == ast.unparse(asked) for part in stores)


def _trains_either_way(facts: Facts, asked: ast.expr, wanted: bool) -> bool:
    """Whether a way to a backward pass is open to a process that does not join."""
    written = ast.unparse(asked)
    for path in training_loops(facts).paths:
        tests = [
            (test, outcome)
            for names, node in ((path.names, path.backward), *path.calls)
            for test, outcome in tests_around(names, node)
        ]
        if not any(_says(test, written, outcome) is wanted for test, outcome in tests):
            return True
    return False


def _says(test: ast.expr, written: str, outcome: bool) -> bool | None:
    """What a variable is where a test has this outcome; None where it asks something else."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, outcome = test.operand, not outcome
    return outcome if ast.unparse(test) == written else None
