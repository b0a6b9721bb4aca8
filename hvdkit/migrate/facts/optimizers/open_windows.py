"""Whether zero_grad() may come to gradients that nothing has reduced: no step has closed their window."""

from __future__ import annotations

import ast
from typing import Optional

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.step_groups import Group, Step
from hvdkit.migrate.facts.optimizers.gradient_waits import reduced_above
from hvdkit.migrate.facts.optimizers.step_calls import step_calls
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.values.arguments import passed
from hvdkit.source.index.names import FUNCTIONS, Names, Scope
from hvdkit.source.index.statements import block_of, statements_above

Variable = Optional[tuple[Optional[Scope], str]]


def may_be_pending(facts: Facts, names: Names, call: ast.Call, group: Group) -> bool:
    """Whether backward passes without reduction may come before a zero_grad(), no step in between."""
    together = any(
        names in program.files and step.names in program.files
        for program in programs_of(facts)
        for step in group.steps
    )
    if not together or not group.postponed or reduced_above(facts, names, names.statement(call), group):
        return False
    if _closed(facts, names, call, group):
        return False
    stepping = {step.names.statement(step.call) for step in group.steps}
    return not any(_steps(part, stepping) for part in block_of(names, names.statement(call)))


def _closed(facts: Facts, names: Names, call: ast.Call, group: Group) -> bool:
    """Whether all that decides between a backward pass and its step holds where zero_grad() is called."""
    known = _true_at(names, call)
    return bool(known) and all(_taken_there(facts, names, known, step) for step in group.steps)


def _taken_there(facts: Facts, names: Names, known: set[Variable], step: Step) -> bool:
    """Whether a step is beside its backward pass, under tests that are all known to be true."""
    function = step.names.function(step.call)
    if function is None or not step_calls(facts).runs_backward(function):
        return False  # what decides about it may stand around a call of its function
    tests = [parent for parent in step.names.ancestors(step.call) if isinstance(parent, ast.If)]
    between = [test for test in tests if not step_calls(facts).runs_backward(test)]
    return bool(between) and all(_taken(facts, names, known, step, test) for test in between)


def _true_at(names: Names, call: ast.Call) -> set[Variable]:
    """Variables that are true at a call: it stands under `if flag:`, or below `if not flag: continue`."""
    found: set[Variable] = set()
    child: ast.AST = names.statement(call)
    for parent in names.ancestors(child):
        if isinstance(parent, ast.If) and child in parent.body:
            found.add(_variable(names, parent.test))
        for above in statements_above(names, child):
            negated = (
                above.test if isinstance(above, ast.If) and isinstance(above.test, ast.UnaryOp) else None
            )
            if negated is not None and isinstance(negated.op, ast.Not) and _leaves(above):
                found.add(_variable(names, negated.operand))
        if isinstance(parent, FUNCTIONS):
            break
        child = parent
    return found - {None}


def _leaves(test: ast.stmt) -> bool:
    return isinstance(test, ast.If) and isinstance(test.body[-1], (ast.Continue, ast.Break, ast.Return))


def _variable(names: Names, node: ast.expr) -> Variable:
    return (names.scope(node).owner(node.id), node.id) if isinstance(node, ast.Name) else None


def _taken(facts: Facts, names: Names, known: set[Variable], step: Step, test: ast.If) -> bool:
    """Whether a test around a step asks for a variable that is true, or for one that is passed from it."""
    flag, function = test.test, step.names.function(test)
    if not any(step.call in ast.walk(part) for part in test.body) or not isinstance(flag, ast.Name):
        return False
    if step.names is names and _variable(names, flag) in known:
        return True
    if function is None or [b.kind for b in step.names.bindings(flag.id, flag)] != ["param"]:
        return False
    sites = [site for where, site in facts.flow.call_sites(step.names, function) if where is names]
    given = [passed(step.names, function, names, site, flag.id) for site in sites]
    return bool(given) and all(value is not None and _variable(names, value) in known for value in given)


def _steps(statement: ast.stmt, stepping: set[ast.stmt]) -> bool:
    """Whether a statement takes one of some steps, whichever way its tests go."""
    if statement in stepping:
        return True
    blocks = [getattr(statement, "body", ())]
    if isinstance(statement, ast.If):
        blocks.append(statement.orelse)
    elif isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return False
    return all(any(_steps(part, stepping) for part in block) for block in blocks)
