"""Several optimizers that one function steps: whether it can be told whose hooks its backward() runs."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.step_groups import Group
from hvdkit.migrate.facts.optimizers.steps_of_pairs import paired
from hvdkit.migrate.facts.optimizers.wrap_places import wrap_places
from hvdkit.migrate.facts.programs.programs import ProgramFacts, programs_with
from hvdkit.migrate.facts.programs.reached_code import run_by_nobody, runs_in
from hvdkit.source.index.names import Names


def steps_one_of_several(facts: Facts, group: Group) -> bool:
    """Whether steps are those of several optimizers, not of all each time, nor each with its model."""
    return _shared(facts, group) and not _all_step(facts, group) and not paired(facts, group)


def _shared(facts: Facts, group: Group) -> bool:
    """Whether the steps of a group are those of several optimizers of one program that has them."""
    places = [
        p for p in wrap_places(facts) if p.target and any(o.value in group.optimizers for o in p.optimizers)
    ]
    for program in {program: None for step in group.steps for program in programs_with(facts, step.names)}:
        if any(_may_run(facts, program, step.names, step.call) for step in group.steps):
            mine = (place for place in places if _may_run(facts, program, place.names, place.call))
            if len({place.target for place in mine}) > 1:
                return True
    return False


def _may_run(facts: Facts, program: ProgramFacts, names: Names, node: ast.AST) -> bool:
    """Whether a node runs in a program: not what only another script runs, of a file that both import."""
    return names in program.files and (
        runs_in(facts, program, names, node) or run_by_nobody(facts, names, node)
    )


def _all_step(facts: Facts, group: Group) -> bool:
    """Whether all of a group's optimizers step in a loop over them, right after each backward pass."""
    if group.reason or not group.reduce_after:
        return False
    for step in group.steps:
        loop = step.names.parents[step.names.statement(step.call)]
        if not isinstance(loop, ast.For) or not _same_name(loop.target, step.target):
            return False
        collections = [value.node for value in facts.flow.values(step.names, loop.iter)]
        if len(collections) != 1 or len(getattr(collections[0], "elts", ())) != len(group.optimizers):
            return False
    return True


def _same_name(one: ast.expr, other: ast.expr) -> bool:
    return isinstance(one, ast.Name) and isinstance(other, ast.Name) and one.id == other.id
