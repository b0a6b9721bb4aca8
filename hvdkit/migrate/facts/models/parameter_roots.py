"""Whose parameters an expression holds: the x of every `x.parameters()` that it is built from."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import argument, passed, passes_self
from hvdkit.migrate.values.binding_order import held_at, renewed
from hvdkit.source.index.names import FunctionNode, Names

MAX_STEPS = 8  # through variables, when parts of a list are told apart
PARAMETERS = ("parameters", "named_parameters")
PARTS = ("children", "named_children", "modules", "named_modules")
Passed = tuple[FunctionNode, Names, ast.Call]


def parameter_roots(
    facts: Facts,
    names: Names,
    node: ast.AST | None,
    calls: tuple[Passed, ...] = (),
    seen: set[object] | None = None,
) -> list[tuple[Names, ast.expr]]:
    """Expressions x of the `x.parameters()` calls that an expression is built from.

    calls: those by which a function's parameters come in, where it is not to be any of its calls.
    seen: expressions and variables that were followed already; each is followed once.
    """
    seen = set() if seen is None else seen
    if node is None or node in seen:
        return []
    seen.add(node)
    found: list[tuple[Names, ast.expr]] = []
    inside: set[ast.AST] = set()
    for part in names.walk(node):
        if part in inside:
            continue
        if isinstance(part, ast.Call):
            if isinstance(part.func, ast.Attribute) and part.func.attr in PARAMETERS:
                found.append((names, _parent(names, part.func.value)))
                inside.update(names.walk(part))
            elif part.args and set(names.qualified(part.func)) & words.GROUP_FACTORIES:
                found.append((names, part.args[0]))
            else:
                for where, function in facts.flow.functions(names, part):
                    for _, root in _in_body(where, function):
                        given = isinstance(root, ast.Name) and passed(where, function, names, part, root.id)
                        found.append((names, given) if given else (where, root))
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            variable = (names, names.scope(part).owner(part.id), part.id)
            if variable in seen:
                continue
            seen.add(variable)
            for binding in held_at(names, part):
                if binding.kind in ("assign", "each", "other") and binding.value is not None:
                    found += parameter_roots(facts, names, binding.value, calls, seen)
                elif binding.kind == "param":
                    found += _from_callers(facts, names, part, calls, seen)
            found += _appended(facts, names, part, calls, seen)
    return list(dict.fromkeys(found))


def all_from_modules(facts: Facts, names: Names, node: ast.expr | None) -> bool:
    """Whether each part of a list or sum of parameters comes from a module: no tensor stands alone."""
    parts = list(parts_of(names, node))
    if any(facts.flow.made(names, part) & words.PARAMETER for part in parts):
        return False
    return len(parts) < 2 or all(parameter_roots(facts, names, part) for part in parts)


def parts_of(names: Names, node: ast.expr | None, steps: int = 0) -> Iterator[ast.expr]:
    """The summands and elements that a parameter argument is made of."""
    inside: list[ast.expr] = []
    if isinstance(node, ast.BinOp):
        inside = [node.left, node.right]
    elif isinstance(node, (ast.List, ast.Tuple)):
        inside = node.elts
    elif isinstance(node, ast.Starred):
        inside = [node.value]
    elif isinstance(node, ast.Dict):
        inside = [v for k, v in zip(node.keys, node.values) if getattr(k, "value", None) == "params"]
    elif isinstance(node, ast.Call) and _strings_together(names, node):
        inside = node.args
    elif isinstance(node, ast.Name) and steps < MAX_STEPS:
        values = [b.value for b in held_at(names, node) if b.kind == "assign" and not b.path]
        values += [call.args[0] for call in _fills(names, node) if call.args]
        inside = [value for value in values if isinstance(value, (ast.List, ast.BinOp, ast.Dict))]
        inside = [value for value in inside if getattr(value, "elts", True)]  # an empty list is filled later
    if inside:
        for part in inside:
            yield from parts_of(names, part, steps + 1)
    elif node is not None:
        yield node


def gives_parameters(names: Names, node: ast.expr) -> bool:
    """Whether an expression is made of `x.parameters()`: what takes it may be a class in a variable."""
    parts = [node] if isinstance(node, ast.Name) else parts_of(names, node)
    return any(
        isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in PARAMETERS
        for part in parts
    )


def put_together_with(names: Names, given: ast.expr) -> ast.expr:
    """What `x.parameters()` is put together with: `itertools.chain(x.parameters(), y.parameters())`."""
    parent = names.parents[given]
    while isinstance(parent, (ast.Starred, ast.List, ast.Tuple, ast.BinOp)) or (
        isinstance(parent, ast.Call) and given in parent.args and _strings_together(names, parent)
    ):
        given, parent = parent, names.parents[parent]
    return given


def in_caller(names: Names, root: ast.expr, calls: tuple[Passed, ...]) -> tuple[Names, ast.expr]:
    """A parameter as the calls on an optimizer's way give it."""
    for function, where, call in calls:
        if isinstance(root, ast.Name) and names.function(root) is function and _is_parameter(names, root):
            given = passed(names, function, where, call, root.id)
            if given is None:
                break
            names, root = where, given
    return names, root


def _is_parameter(names: Names, name: ast.Name) -> bool:
    """Whether a variable is what a function was given; `model = model.module` is its model still."""
    bindings = names.bindings(name.id, name)
    return any(binding.kind == "param" for binding in bindings) and all(
        binding.kind == "param"
        or (isinstance(binding.value, ast.Attribute) and binding.value.attr == "module")
        for binding in bindings
    )


def _parent(names: Names, module: ast.expr) -> ast.expr:
    """The x of `for module in x.children():`, for a loop variable is nothing elsewhere; else the module."""
    bound = names.bindings(module.id, module) if isinstance(module, ast.Name) else []
    looped = bound[0].value if len(bound) == 1 and bound[0].kind == "each" else None
    if isinstance(looped, ast.Call) and isinstance(looped.func, ast.Attribute) and looped.func.attr in PARTS:
        return looped.func.value
    return module


def _in_body(names: Names, function: ast.AST) -> list[tuple[Names, ast.expr]]:
    """Every x of `x.parameters()` in a function: its groups are lists filled somewhere inside."""
    return [
        (names, part.func.value)
        for part in names.calls_in(function)
        if isinstance(part.func, ast.Attribute) and part.func.attr in PARAMETERS
    ]


def _appended(
    facts: Facts, names: Names, name: ast.Name, calls: tuple[Passed, ...], seen: set[object]
) -> list[tuple[Names, ast.expr]]:
    """`for n, p in x.named_parameters(): name.append(p)` makes x a root of name."""
    found: list[tuple[Names, ast.expr]] = []
    for call in _fills(names, name):
        for parent in names.ancestors(call):
            if isinstance(parent, ast.For):
                found += _in_body(names, parent.iter)
        found += _in_body(names, call)
        for group in (part for part in call.args if isinstance(part, ast.Dict)):
            for key, value in zip(group.keys, group.values):
                if isinstance(key, ast.Constant) and key.value == "params":
                    found += parameter_roots(facts, names, value, calls, seen)
    return found


def _fills(names: Names, name: ast.Name) -> Iterator[ast.Call]:
    """The calls `name.append(...)` and `name.extend(...)` of what a variable holds at a use."""
    owner, start = names.scope(name).owner(name.id), renewed(names, name)
    for method in ("append", "extend"):
        for call in names.calls.get(method, ()):
            target = call.func.value if isinstance(call.func, ast.Attribute) else None
            if isinstance(target, ast.Name) and target.id == name.id:
                before = start is not None and call.lineno < start.node.lineno  # type: ignore[attr-defined]
                if names.scope(target).owner(target.id) is owner and not before:
                    yield call


def _from_callers(
    facts: Facts, names: Names, name: ast.Name, calls: tuple[Passed, ...], seen: set[object]
) -> list[tuple[Names, ast.expr]]:
    function = names.function(name)
    found: list[tuple[Names, ast.expr]] = []
    if function is None:
        return found
    on_the_way = [(where, call) for passes, where, call in calls if passes is function]
    for where, call in on_the_way or facts.flow.call_sites(names, function):
        given = argument(function, call, name.id, passes_self(names, function, where, call))
        found += parameter_roots(facts, where, given, calls, seen)
    return found


def _strings_together(names: Names, call: ast.Call) -> bool:
    builtin = isinstance(call.func, ast.Name) and call.func.id in ("list", "tuple")
    return builtin or names.qualified(call.func) == ("itertools.chain",)
