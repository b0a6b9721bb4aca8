"""The ways to a backward pass that begin in a program."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.code.call_graph import begins_in, call_graph
from hvdkit.migrate.facts.code.loops import Path, backward_calls, training_loops
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.optimizers import in_input_fit
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.reached_code import run_by_nobody, runs_in
from hvdkit.source.index.names import Names


@once
def training_paths(facts: Facts, program: ProgramFacts) -> list[Path]:
    """The ways to a backward pass that begin in this program, not in another that shares its files."""
    return [
        path
        for path in training_loops(facts).paths
        if path.names in program.files
        and _outermost(path)[0] in program.files
        and begins_in(program.entry, *_outermost(path))
        and not in_input_fit(facts, path.names, path.backward)
    ]


def input_passes(facts: Facts, program: ProgramFacts) -> list[tuple[Names, ast.AST]]:
    """The backward passes of a program that fit an input, and fill the gradients of its model as well."""
    return [
        (names, call)
        for names, call in backward_calls(facts)
        if in_input_fit(facts, names, call) and runs_in(facts, program, names, call)
    ]


def _outermost(path: Path) -> tuple[Names, ast.AST]:
    return path.calls[-1] if path.calls else (path.names, path.backward)


def may_run_in(facts: Facts, program: ProgramFacts, names: Names, node: ast.AST) -> bool:
    """Whether a node runs in a program, or is in a file that trains there and nothing is seen to run it.

    A trainer that a registry or a configuration names is made by a call that is not followed.
    """
    if runs_in(facts, program, names, node):
        return True
    trains = any(path.names is names for path in training_paths(facts, program))
    return trains and run_by_nobody(facts, names, node) and call_graph(facts).may_be_lost(names, node)


def modules_chosen(facts: Facts, program: ProgramFacts) -> list[tuple[Names, ast.AST]]:
    """The imports of a program by a name that is computed, for which no file of the project was found."""
    return [
        (site.names, site.node)
        for site in facts.calls_in(program.files, "importlib.import_module")
        if runs_in(facts, program, site.names, site.node)
        and not facts.project.asked_for(site.names, site.node)
        and not (site.node.args and isinstance(site.node.args[0], ast.Constant))
    ]
