"""Functions of the project that only hand something out: what they make, or what they are given.

Each call of `def make(net): return SGD(net.parameters())` makes another optimizer, and `def wrap(net): return
DDP(net.cuda())` gives back the network of that call, not those of all.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.flow_questions import Asking
from hvdkit.migrate.values.lookups import OPTIMIZER
from hvdkit.migrate.values.value import Value
from hvdkit.migrate.values.wrappers import MODEL_WRAPPERS, RETURNS_SELF
from hvdkit.source.index.names import FUNCTIONS, FunctionNode, Names

HARMLESS = frozenset(("add_param_group", "append"))


@dataclass(frozen=True)
class HandedBack:
    """The parameter that a function gives back. wraps: what it may put around it; bare: what was may go."""

    parameter: str
    wraps: tuple[ast.Call, ...]
    bare: bool


def handed_back(names: Names, function: FunctionNode) -> HandedBack | None:
    """Which of its parameters a function does nothing with but move, wrap as a model, and return, alone."""
    results = names.returns.get(function, ())
    first = next((innermost_variable(names, result) for result in results), None)
    if first is None:
        return None
    bindings = names.bindings(first.id, first)
    given = [binding for binding in bindings if binding.kind == "param"]
    values = [*results, *(b.value for b in bindings if b.kind == "assign" and not b.path)]
    if len(given) != 1 or len(values) != len(results) + len(bindings) - 1:
        return None
    if names.parents[names.parents[given[0].node]] is not function:
        return None
    roots = [innermost_variable(names, value) for value in values]
    if any(root is None or root.id != first.id for root in roots):
        return None
    parts = [part for value in values if value is not None for part in ast.walk(value)]
    wraps = tuple(part for part in parts if isinstance(part, ast.Call) and _wraps(names, part))
    return HandedBack(first.id, wraps, any(getattr(part, "attr", "") == "module" for part in parts))


def innermost_variable(names: Names, node: ast.expr | None) -> ast.Name | None:
    """The variable that is moved, wrapped as a model, or unwrapped: `net` of `DDP(net.cuda())`."""
    while node is not None and not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute) and node.attr == "module":
            node = node.value
        elif not isinstance(node, ast.Call):
            return None
        elif isinstance(node.func, ast.Attribute) and node.func.attr in RETURNS_SELF:
            node = node.func.value
        else:
            node = node.args[0] if node.args and _wraps(names, node) else None
    return node


def _wraps(names: Names, call: ast.Call) -> bool:
    return bool(MODEL_WRAPPERS & set(names.qualified(call.func)))


def handed_out(names: Names, function: FunctionNode, call: ast.Call) -> bool:
    """Whether a function does nothing with what a call in it makes but return it, alone."""
    statement = names.statement(call)
    if isinstance(statement, ast.Return):
        return statement.value is call
    target = assigned_to(statement, call)
    if not isinstance(target, ast.Name):
        return False
    scope = names.scope(target)
    uses = [use for use in names.uses.get(target.id, ()) if names.scope(use).owner(target.id) is scope]
    returned = False
    for use in uses:
        parent = names.parents[use]
        if isinstance(parent, ast.Return):
            returned = True
        elif isinstance(use.ctx, ast.Load):
            if not (isinstance(parent, ast.Attribute) and parent.attr in HARMLESS):
                return False
    return returned and isinstance(scope.node, FUNCTIONS)


def made_for_callers(flow: Asking, names: Names, calls: Iterable[ast.Call]) -> set[Value]:
    """The optimizers that calls which a function only hands out make anew with each call of it."""
    found: set[Value] = set()
    for call in calls:
        for value in flow.values(names, call):
            anew = call is value.node or (names, call) == value.call or _constructs(flow, names, call, value)
            if anew and made_per_call(flow, value):
                found.add(value)
    return found


def made_per_call(flow: Asking, value: Value) -> bool:
    """Whether a value is told apart by the call of the project's function that made it: an optimizer."""
    if value.kind == "object":
        return any(words.is_optimizer(base) for base in flow.bases(value))
    known = value.name == OPTIMIZER or value.name in words.OPTIMIZER_FACTORIES
    return value.kind == "made" and (known or words.is_optimizer(value.name))


def _constructs(flow: Asking, names: Names, call: ast.Call, value: Value) -> bool:
    """Whether a call is that of a value's own class."""
    if value.kind != "object" or value.call is not None:
        return False
    return value._replace(kind="class") in flow.values(names, call.func)


def calls_handed_out(names: Names, function: FunctionNode) -> Iterator[ast.Call]:
    """The calls in a function whose results it only returns."""
    for result in names.returns.get(function, ()):
        made: list[ast.expr | None] = [result]
        if isinstance(result, ast.Name):
            made = [b.value for b in names.bindings(result.id, result) if b.kind == "assign" and not b.path]
        for call in made:
            if isinstance(call, ast.Call) and handed_out(names, function, call):
                yield call


def assigned_to(statement: ast.stmt, value: ast.expr) -> ast.expr | None:
    """The one variable that a statement assigns an expression's value to."""
    if isinstance(statement, ast.Assign) and statement.value is value and len(statement.targets) == 1:
        target = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign) and statement.value is value:
        target = statement.target
    else:
        return None
    plain = target.value if isinstance(target, ast.Subscript) else target
    constant = not isinstance(target, ast.Subscript) or isinstance(target.slice, ast.Constant)
    return target if constant and isinstance(plain, (ast.Name, ast.Attribute)) else None
