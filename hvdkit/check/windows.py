"""What happens to the gradients between a backward pass and the step of one of Horovod's optimizers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import wrapped_steps, wrapped_under
from hvdkit.check.order import block_of
from hvdkit.dataclass import dataclass
from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.models.gradient_reads import GradientUse
from hvdkit.migrate.facts.models.step_groups import Step
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.step_calls import step_calls
from hvdkit.migrate.facts.optimizers.written_optimizers import plain_target
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import FUNCTIONS, Names
from hvdkit.source.index.statements import statements_above

MAX_CALLS = 4


@dataclass(frozen=True)
class Window:
    """One step, the statements before it up to the nearest backward pass, and the statement with that pass.

    tests: the `if`s around the step that the backward pass does not stand under.
    """

    step: Step
    between: tuple[ast.stmt, ...]
    backward: ast.stmt
    tests: tuple[ast.If, ...]

    @property
    def names(self) -> Names:
        """The file."""
        return self.step.names

    @property
    def statement(self) -> ast.stmt:
        """The statement of the step."""
        return self.step.names.statement(self.step.call)


@once
def windows(facts: Facts) -> list[Window]:
    """A window for each step of an optimizer that horovod.torch wraps, with a backward pass above it."""
    return [w for step in wrapped_steps(facts) if (w := _window(facts, step)) is not None]


def windows_under(facts: Facts) -> Iterator[tuple[Window, list[ast.expr]]]:
    """The windows of optimizers that are wrapped under a test only, with the tests."""
    for step in step_calls(facts).steps:
        tests = wrapped_under(facts, step.names, step.target)
        window = _window(facts, step) if tests else None
        if window is not None:
            yield window, tests


def _window(facts: Facts, step: Step) -> Window | None:
    names = step.names
    statement = names.statement(step.call)
    between: list[ast.stmt] = []
    tests: list[ast.If] = []
    while True:
        for earlier in reversed(statements_above(names, statement)):
            if step_calls(facts).runs_backward(earlier):
                return Window(step, tuple(reversed(between)), earlier, tuple(tests))
            between.append(earlier)
        parent = names.parents[statement]
        if isinstance(parent, ast.If):
            tests.append(parent)
        if not isinstance(parent, (ast.If, ast.With)) or isinstance(parent, FUNCTIONS):
            return None
        statement = parent


def synchronized(facts: Facts, window: Window) -> ast.stmt | None:
    """The statement in a window that waits for the reduction: optimizer.synchronize()."""
    for statement in (window.backward, *window.between):
        if any(_waits(facts, window.names, statement)):
            return statement
    return None


def synchronized_itself(facts: Facts, window: Window) -> bool:
    """Whether a window always waits by a synchronize() of the optimizer that steps; a GAN has another one."""
    steps = facts.flow.values(window.names, window.step.target)
    return any(
        steps & facts.flow.values(names, waits)
        for statement in (window.backward, *window.between)
        for names, waits in _waits(facts, window.names, statement, certain=True)
    )


def _waits(
    facts: Facts, names: Names, node: ast.AST, depth: int = 0, certain: bool = False
) -> Iterator[tuple[Names, ast.expr]]:
    """What running a node calls a synchronize() of that is no library's function, itself or further in.

    certain: whenever the node runs, so under no test of its own, no loop and no early return.
    """
    for part in _always(node) if certain else ast.walk(node):
        if not isinstance(part, ast.Call):
            continue
        if isinstance(part.func, ast.Attribute) and part.func.attr == "synchronize":
            if not names.qualified(part.func):
                yield names, part.func.value
                continue
        for where, function in facts.flow.functions(names, part) if depth < MAX_CALLS else []:
            yield from _waits(facts, where, function, depth + 1, certain)


def _always(node: ast.AST) -> Iterator[ast.AST]:
    """A node, and what is inside it that runs whenever it does."""
    yield node
    body = node.body if isinstance(node, (ast.With, *FUNCTIONS)) else None
    if isinstance(body, list):
        for statement in body:
            if any(isinstance(part, (ast.Return, ast.Raise)) for part in ast.walk(statement)):
                return
            yield from _always(statement)
    elif isinstance(node, (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)):
        for part in ast.walk(node):
            if isinstance(part, (ast.IfExp, ast.BoolOp, ast.Lambda)):
                return
            yield part


def first_reader(facts: Facts, window: Window) -> ast.stmt | None:
    """The first statement of a window that reads gradients before they have been waited for."""
    uses = _certain_uses(facts)
    waited = synchronized(facts, window)
    for statement in window.between if waited is not window.backward else ():
        if statement is waited:
            return None
        if uses.looked_at(window.names, statement):
            return statement
    return None


@once
def _certain_uses(facts: Facts) -> GradientUse:
    return GradientUse(facts, certain=True)


def skips(window: Window) -> bool:
    """Whether a step stands under skip_synchronize()."""
    return any(
        isinstance(item.context_expr, ast.Call)
        and getattr(item.context_expr.func, "attr", "") == "skip_synchronize"
        for parent in window.names.ancestors(window.step.call)
        if isinstance(parent, ast.With)
        for item in parent.items
    )


def skip(window: Window) -> list[Edit]:
    """The step under `with optimizer.skip_synchronize():`. Raises CannotEdit."""
    return edits.enclose(window.names.source, [window.statement], f"with {_name(window)}.skip_synchronize():")


def wait_before(window: Window, statement: ast.stmt) -> Iterator[Edit]:
    """optimizer.synchronize() above a statement, and the step under skip_synchronize(). Raises CannotEdit."""
    if block_of(window.names, statement) is not block_of(window.names, window.statement):
        raise edits.CannotEdit("the step is under a test, and this is not")
    yield edits.before(window.names.source, statement, [f"{_name(window)}.synchronize()"])
    yield from skip(window)


def _name(window: Window) -> str:
    name = plain_target(window.step)
    if name is None:
        raise edits.CannotEdit("the optimizer that steps is not a plain variable or attribute")
    return name
