"""What a rank computes of its own samples, or reads from its own clock: another number on each rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.code.loops import training_loops
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.index.names import FUNCTIONS, Binding, Names
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import passed

# Methods of tensors that give numbers; a function of a library that has such a name has a qualified one.
OF_TENSORS = frozenset(("item", "mean", "sum", "norm", "detach", "cpu", "numpy", "tolist"))
CLOCKS = ("time.time", "time.perf_counter", "time.monotonic", "datetime.datetime.now")
MODULES = ("torch.nn.", "torchvision.models.")


def of_own_numbers(facts: Facts, names: Names, expression: ast.expr) -> bool:
    """Whether an expression comes from losses, metrics or the clock, by values or by the tests above them.

    `if loss < best: waited = 0` and `else: waited += 1` make `waited` a number of the rank's own.
    """
    return _depends(facts, names, expression, set())


def _depends(facts: Facts, names: Names, expression: ast.AST, seen: set[ast.AST]) -> bool:
    if expression in seen:
        return False
    seen.add(expression)
    if isinstance(expression, ast.Call):
        if is_computed(facts, names, expression):
            return True
        if getattr(expression.func, "id", "") == "len" or _is_agreed(names, expression):
            return False
        returned = [
            (where, result)
            for where, function in facts.flow.functions(names, expression)
            for result in where.returns.get(function, ())
        ]
        if any(_depends(facts, where, result, seen) for where, result in returned):
            return True
    for where, binding in bindings_of(facts, names, expression):
        if binding.node not in seen:
            seen.add(binding.node)
            if _by_binding(facts, where, binding, seen):
                return True
    if any(_depends(facts, names, value, seen) for value in _put_into(names, expression)):
        return True
    return any(_depends(facts, names, part, seen) for part in ast.iter_child_nodes(expression))


def _put_into(names: Names, part: ast.AST) -> Iterator[ast.expr]:
    """What a file puts into the thing that a variable or an attribute holds: `losses.append(loss.item())`,
    `meter.update(loss)`, `scores[epoch] = score`."""
    if not isinstance(getattr(part, "ctx", None), ast.Load):
        return
    if isinstance(part, ast.Name):
        owner = names.scope(part).owner(part.id)
        same: list[ast.expr] = [
            use for use in names.uses.get(part.id, ()) if names.scope(use).owner(part.id) is owner
        ]
    elif isinstance(part, ast.Attribute):
        written = ast.unparse(part)
        same = [use for use in names.attributes.get(part.attr, ()) if ast.unparse(use) == written]
    else:
        return
    for use in same:
        around = names.parents[use]
        changed = names.parents.get(around)
        if isinstance(around, ast.Attribute) and isinstance(changed, ast.Call) and changed.func is around:
            if isinstance(names.parents[changed], ast.Expr):
                yield from (*changed.args, *(item.value for item in changed.keywords))
        elif isinstance(around, ast.Subscript) and isinstance(around.ctx, ast.Store):
            if isinstance(changed, (ast.Assign, ast.AugAssign)):
                yield changed.value


def _is_agreed(names: Names, call: ast.Call) -> bool:
    """Whether a call is one of Horovod's, which gives all ranks the same."""
    return any(name.rpartition(".")[0] in words.HOROVOD for name in names.qualified(call.func))


def is_computed(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether a call is one of a model or a loss, gives a tensor's number, or the time."""
    qualified = names.qualified(call.func)
    if set(qualified) & set(CLOCKS):
        return True
    if isinstance(call.func, ast.Attribute) and call.func.attr in OF_TENSORS and not qualified:
        return True
    for value in facts.flow.values(names, call.func):
        if value.kind == "made" and value.name.startswith(MODULES):
            return True
        if value.kind == "object" and any(base.startswith("torch.nn.") for base in facts.flow.bases(value)):
            return True
    return False


def bindings_of(facts: Facts, names: Names, part: ast.AST) -> list[tuple[Names, Binding]]:
    """Where what a variable or an attribute holds at a use may come from, each with its file."""
    if not isinstance(getattr(part, "ctx", None), ast.Load):
        return []
    if isinstance(part, ast.Name):
        return [(names, binding) for binding in names.bindings(part.id, part)]
    return facts.flow.stored(names, part) if isinstance(part, ast.Attribute) else []


def _by_binding(facts: Facts, names: Names, binding: Binding, seen: set[ast.AST]) -> bool:
    """Whether what a binding gives, or whether it is come to, depends on numbers of the rank's own."""
    given: list[tuple[Names, ast.expr]] = [(names, test) for test in tests_above(names, binding.node)]
    changed = names.parents.get(binding.node)
    if isinstance(changed, ast.AugAssign):
        given.append((names, changed.value))
    elif binding.kind == "param" and isinstance(binding.node, ast.arg):
        given += from_callers(facts, names, binding.node)
    elif binding.kind == "each" and binding.value is not None:
        over = getattr(getattr(binding.value, "func", None), "id", "")
        if over == "enumerate" and binding.path[:1] == (0,):
            return False
        if over != "range" and training_loops(facts).loaders_in(names, binding.value):
            return True
        given.append((names, binding.value))
    elif binding.kind == "assign" and binding.value is not None:
        given.append((names, binding.value))
    return any(_depends(facts, where, value, seen) for where, value in given)


def tests_above(names: Names, node: ast.AST) -> Iterator[ast.expr]:
    """The tests of the `if` and `while` statements of its function that a node stands under."""
    for parent in names.ancestors(node):
        if isinstance(parent, FUNCTIONS):
            return
        if isinstance(parent, (ast.If, ast.While)) and node not in ast.walk(parent.test):
            yield parent.test


def from_callers(facts: Facts, names: Names, arg: ast.arg) -> list[tuple[Names, ast.expr]]:
    """What the calls of a function give for one of its parameters."""
    function = names.parents[names.parents[arg]]
    if not isinstance(function, FUNCTIONS):
        return []
    sites = facts.flow.call_sites(names, function)
    given = [(where, passed(names, function, where, call, arg.arg)) for where, call in sites]
    return [(where, value) for where, value in given if value is not None]
