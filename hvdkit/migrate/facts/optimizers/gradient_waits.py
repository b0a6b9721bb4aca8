"""Where a program already waits for its gradients: `optimizer.synchronize()` beside a statement."""

from __future__ import annotations

import ast
from itertools import takewhile

from hvdkit.migrate import edits
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.gradient_reads import GradientUse
from hvdkit.migrate.facts.models.step_groups import Backward, Group, Step
from hvdkit.migrate.facts.optimizers.steps import steps_of
from hvdkit.migrate.facts.optimizers.written_optimizers import optimizer_names
from hvdkit.source.index.names import FUNCTIONS, Binding, Names
from hvdkit.source.index.statements import statements_above, statements_below

SKIP = "skip_synchronize"
# What a test is made of that asks for settings: `not self.config["alone"]`, `self.mode == "gan"`.
SETTING = (
    *(ast.Attribute, ast.Subscript, ast.Name, ast.Constant, ast.expr_context),
    *(ast.UnaryOp, ast.BoolOp, ast.Compare, ast.unaryop, ast.boolop, ast.cmpop),
)


def is_awaited(facts: Facts, group: Group) -> bool:
    """Whether there is a place to wait: for these steps, or for those around the object that steps here."""
    groups = (other for other in steps_of(facts).groups if other.optimizers & group.optimizers)
    return any(other.reduce_after or other.reduce_before for other in groups)


def waiting_place(facts: Facts, backward: Backward, group: Group) -> tuple[Names, ast.Call]:
    """The call after which to wait: backward(), or its caller where the optimizer has no name beside it."""
    if optimizer_names(facts, backward.names, backward.call, [group]):
        return backward.names, backward.call
    return backward.where, backward.anchor


def looked_at_before(facts: Facts, backward: Backward) -> ast.stmt | None:
    """What looks at gradients below a backward pass in its function, where only the caller can wait."""
    names, looks = backward.names, GradientUse(facts, certain=True)
    child: ast.AST = names.statement(backward.call)
    for parent in names.ancestors(child):
        if isinstance(child, ast.stmt):
            for below in statements_below(names, child):
                if looks.looked_at(names, below):
                    return below
        if isinstance(parent, FUNCTIONS):
            break
        child = parent
    return None


def reduced_below(facts: Facts, names: Names, call: ast.Call, group: Group) -> bool:
    """Whether the statements right below a call wait for these gradients."""
    statement = edits.following(names, names.statement(call))
    while statement is not None and _wait(statement, group) is not None:
        if _is_for(facts, names, statement, group):
            return True
        statement = edits.following(names, statement)
    return False


def reduced_above(facts: Facts, names: Names, statement: ast.stmt, group: Group) -> bool:
    """Whether the statement right above, or above its `skip_synchronize()`, waits for these gradients."""
    parent = names.parents[statement]
    if isinstance(parent, ast.With) and any(_is_call(item.context_expr, SKIP) for item in parent.items):
        statement = parent
    above = statements_above(names, statement)
    return bool(above) and _wait(above[-1], group) is not None and _is_for(facts, names, above[-1], group)


def if_there(facts: Facts, name: str, at: ast.AST, group: Group) -> str:
    """The test around each step of an optimizer that may be None, where a place stands outside it; or "".

    name: the optimizer as it is written at the place. One that an object has only where a setting says so is
    asked for by that setting.
    """
    for setting in _settings(facts, name, at, group):
        written = group.steps[0].names.source.segment(setting)
        return ast.unparse(setting) if "\n" in written else written
    steps = [step for step in group.steps if ast.unparse(step.target) == name]
    tests = {_asked_for(step, at, name) for step in steps}
    test = tests.pop() if len(tests) == 1 else ""
    if test or any(_runs_with(step, at) for step in steps) or _always_zeroed(facts, group):
        return test
    none = any(value.is_none for step in steps for value in facts.flow.values(step.names, step.target))
    return f"{name} is not None" if none else ""


def _runs_with(step: Step, at: ast.AST) -> bool:
    """Whether no test that a place stands outside of decides over a step."""
    outside = {*step.names.ancestors(step.call)} - {*step.names.ancestors(at)}
    return not any(isinstance(parent, ast.If) for parent in outside)


def _always_zeroed(facts: Facts, group: Group) -> bool:
    """Whether a function asks an optimizer for zero_grad() under no test: None is no optimizer there."""
    return any(
        group.optimizers & facts.flow.values(names, receiver)
        and not any(isinstance(parent, ast.If) for parent in takewhile(_inside, names.ancestors(call)))
        for names, call, receiver in facts.methods("zero_grad")
    )


def _inside(parent: ast.AST) -> bool:
    return not isinstance(parent, FUNCTIONS)


def _asked_for(step: Step, at: ast.AST, name: str) -> str:
    """`optimizer is not None` or `optimizer`, where that decides over a step and not over a place."""
    inside = step.names.function(step.call) or step.names.source.tree
    if inside not in step.names.ancestors(at):
        return ""
    around = [step.call, *step.names.ancestors(step.call)]
    for child, parent in zip(around, around[1:]):
        if isinstance(parent, ast.If) and child in parent.body and parent not in step.names.ancestors(at):
            test = ast.unparse(parent.test)
            if test in _there(name):
                return test
    return ""


def _wait(statement: ast.stmt, group: Group) -> ast.Call | None:
    """The `optimizer.synchronize()` that a statement is, or that is all it does if the optimizer is there."""
    known = set[str]().union(*(_tests(step.names, step.call) for step in group.steps))
    test = None
    if isinstance(statement, ast.If) and len(statement.body) == 1 and not statement.orelse:
        test, statement = statement.test, statement.body[0]
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not _is_call(call, "synchronize"):
        return None
    assert isinstance(call.func, ast.Attribute)
    if test is None or ast.dump(test) in known or ast.unparse(test) in _there(ast.unparse(call.func.value)):
        return call
    return None


def _there(name: str) -> tuple[str, ...]:
    """The tests whether an optimizer is there."""
    return name, f"{name} is not None", f"{name} != None"


def skips(names: Names, call: ast.Call) -> bool:
    """Whether a step stands under skip_synchronize() already."""
    return any(
        _is_call(item.context_expr, SKIP)
        for parent in names.ancestors(call)
        if isinstance(parent, ast.With)
        for item in parent.items
    )


def _is_call(node: ast.expr, method: str) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") == method


def _is_for(facts: Facts, names: Names, statement: ast.stmt, group: Group) -> bool:
    call = _wait(statement, group)
    if call is None or not isinstance(call.func, ast.Attribute):
        return False
    return bool(facts.flow.unwrap(facts.flow.values(names, call.func.value)) & group.optimizers)


def made_under_test(facts: Facts, names: Names, name: str, call: ast.Call, group: Group) -> bool:
    """Whether an optimizer is made, and steps, under a test only, and backward() runs without it."""
    return bool(_missing_tests(facts, name, call, group)) and not _settings(facts, name, call, group)


def _settings(facts: Facts, name: str, at: ast.AST, group: Group) -> list[ast.expr]:
    """Of the missing tests those of an object's own settings, which mean the same wherever they are asked."""
    root = name.partition(".")[0]
    return [
        test
        for test in _missing_tests(facts, name, at, group)
        if all(isinstance(part, SETTING) for part in ast.walk(test))
        and {part.id for part in ast.walk(test) if isinstance(part, ast.Name)} == {root} != {name}
    ]


def _missing_tests(facts: Facts, name: str, at: ast.AST, group: Group) -> list[ast.expr]:
    """The tests under which alone an optimizer is made and steps, and that do not hold at a place."""
    first = group.steps[0].names
    steps = [step for step in group.steps if step.names is first and ast.unparse(step.target) == name]
    made: list[tuple[Names, Binding]] = []
    for step in steps:
        if isinstance(step.target, ast.Attribute):
            made += facts.flow.stored(step.names, step.target)
        elif isinstance(step.target, ast.Name):
            bindings = step.names.bindings(step.target.id, step.target)
            made += [(step.names, binding) for binding in bindings if binding.kind == "assign"]
    if not made or not steps:
        return []
    under = [_tests(where, binding.node) for where, binding in made]
    under += [_tests(step.names, step.call) for step in steps]
    common = set.intersection(*map(set, under)) - set(_tests(steps[0].names, at))
    return [test for key, test in under[len(made)].items() if key in common]


def _tests(names: Names, node: ast.AST) -> dict[str, ast.expr]:
    """The tests that hold where a node runs, by how they are written."""
    around = [node, *names.ancestors(node)]
    return {
        ast.dump(parent.test): parent.test
        for child, parent in zip(around, around[1:])
        if isinstance(parent, ast.If) and child in parent.body
    }
