"""The optimizers of a project, and which models' parameters each one trains."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.values.arguments import argument, keyword, passed, passes_self
from hvdkit.migrate.facts.values.flow import Value
from hvdkit.migrate.facts.values.handed_out import handed_out, told_apart
from hvdkit.migrate.facts.values.lookups import OPTIMIZER, calls_with_optimizers, handed_on
from hvdkit.migrate.facts.values.order import held_at, last_binding, renewed
from hvdkit.migrate.names import FunctionNode, Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts

MAX_STEPS = 8  # through variables, when parts of a list are told apart
PARAMETERS = ("parameters", "named_parameters")
PARTS = ("children", "named_children", "modules", "named_modules")
Passed = tuple[FunctionNode, Names, ast.Call]


@dataclass(frozen=True)
class Optimizer:
    """An optimizer's construction.

    roots: the expressions whose .parameters() it was given (each with its file); models: their values,
    wrappers removed. whole: whether the roots hold everything it trains. wrapped: whether it already flows
    into a DistributedOptimizer. passed: the calls by which functions of the project hand it to those who use
    it, innermost first, each with the function it runs: another optimizer with each call.
    """

    names: Names
    node: ast.Call
    value: Value
    roots: tuple[tuple[Names, ast.expr], ...]
    models: frozenset[Value]
    whole: bool
    wrapped: bool
    passed: tuple[Passed, ...] = ()


def find_optimizers(facts: Facts) -> list[Optimizer]:
    """Every construction of an optimizer, in file order."""
    taken = {
        value
        for site in facts.calls(*words.HVD_OPTIMIZER)
        for value in facts.flow.values(site.names, _argument(site.node, 0, "optimizer"))
    }
    found = []
    for names in facts.files:
        for call in _may_construct(names):
            for value in _constructed(facts, names, call):
                for way in _ways(facts, names, call):
                    found.append(_optimizer(facts, names, call, value, way, taken))
    found = [optimizer for optimizer in found if not _around_another(facts, optimizer, found)]
    inside = _made_inside(facts, found)
    found = [optimizer for optimizer in found if replace(optimizer.value, call=None) not in inside]
    return sorted(found, key=lambda o: (str(o.names.source.path), o.node.lineno, o.node.col_offset))


def constructions(facts: Facts) -> list[Optimizer]:
    """One optimizer for each call that constructs some, whoever it is handed out to."""
    return list({optimizer.node: optimizer for optimizer in facts.optimizers}.values())


def _ways(
    facts: Facts, names: Names, call: ast.Call, so_far: tuple[Passed, ...] = ()
) -> list[tuple[Passed, ...]]:
    """How what a call makes comes to those who use it: at once, or through each call of its function."""
    function = names.function(call)
    known = function is None or any(function is seen for seen, _, _ in so_far)
    if function is None or known or not handed_out(names, function, call):
        return [so_far]
    sites = facts.flow.call_sites(names, function)
    ways = [_ways(facts, where, site, (*so_far, (function, where, site))) for where, site in sites]
    return [way for found in ways for way in found] or [so_far]


def _optimizer(
    facts: Facts, names: Names, call: ast.Call, value: Value, way: tuple[Passed, ...], taken: set[Value]
) -> Optimizer:
    """One optimizer: what a call constructs on one of the ways on which it is handed out."""
    given = _parameters(facts, names, call, value)
    known = [value]
    if told_apart(facts.flow, value):
        known += [replace(value, call=(where, site)) for _, where, site in way]
    value = known[-1]
    roots = _roots(facts, names, given, value, way)
    whole = _whole(facts, names, given)
    for where, group in (added for each in known for added in groups_added(facts, each)):
        more = tuple(parameter_roots(facts, where, group, way))
        whole = whole and bool(roots and more) and _whole(facts, where, group)
        roots = tuple(dict.fromkeys((*roots, *more)))
    models: frozenset[Value] = frozenset()
    for where, root in roots:
        models |= facts.flow.unwrap(facts.flow.values(*_in_caller(where, root, way)))
    return Optimizer(names, call, value, roots, models, whole, value in taken, way)


def _in_caller(names: Names, root: ast.expr, calls: tuple[Passed, ...]) -> tuple[Names, ast.expr]:
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


def _parameters(facts: Facts, names: Names, call: ast.Call, value: Value) -> ast.expr | None:
    """What an optimizer's construction is given to train."""
    if value.name == OPTIMIZER:
        return next((handed_on(*made, call) for made in facts.flow.functions(names, call)), None)
    return _argument(call, *words.OPTIMIZER_FACTORIES.get(value.name, (0, "params")))


def _around_another(facts: Facts, optimizer: Optimizer, every: list[Optimizer]) -> bool:
    """Whether what is constructed is given another optimizer to step: a Lookahead of the project's own."""
    others = {other.value for other in every if other is not optimizer}
    return any(facts.flow.values(optimizer.names, given) & others for given in optimizer.node.args[:1])


def _made_inside(facts: Facts, found: list[Optimizer]) -> frozenset[Value]:
    """What a library's factory makes inside, where the project has its files: its calls stand for it."""
    inside: set[Value] = set()
    for optimizer in found:
        if optimizer.value.name in words.OPTIMIZER_FACTORIES:
            for names, function in facts.flow.functions(optimizer.names, optimizer.node):
                made = (facts.flow.values(names, value) for value in names.returns.get(function, ()))
                inside.update(replace(value, call=None) for values in made for value in values)
    return frozenset(inside)


def groups_added(facts: Facts, optimizer: Value) -> list[tuple[Names, ast.expr]]:
    """The groups of parameters that `optimizer.add_param_group(group)` adds, each with its file.

    A method that only hands its group on, and that nobody calls, adds none.
    """
    return [
        (names, call.args[0])
        for names, call, receiver in facts.methods("add_param_group")
        if call.args and optimizer in facts.flow.values(names, receiver)
        if {value.kind for value in facts.flow.values(names, call.args[0])} != {"param"}
    ]


def _roots(
    facts: Facts, names: Names, given: ast.expr | None, value: Value, way: tuple[Passed, ...]
) -> tuple[tuple[Names, ast.expr], ...]:
    """Where an optimizer's parameters come from; a factory of a library takes the model itself."""
    found = tuple(parameter_roots(facts, names, given, way))
    if not found and given is not None and value.name in words.OPTIMIZER_FACTORIES:
        return ((names, given),)
    return found


def _whole(facts: Facts, names: Names, node: ast.expr | None) -> bool:
    """Whether each part of a list or sum of parameters comes from a module: no tensor stands alone."""
    parts = list(_parts(names, node))
    if any(facts.flow.made(names, part) & words.PARAMETER for part in parts):
        return False
    return len(parts) < 2 or all(parameter_roots(facts, names, part) for part in parts)


def _parts(names: Names, node: ast.expr | None, steps: int = 0) -> Iterator[ast.expr]:
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
            yield from _parts(names, part, steps + 1)
    elif node is not None:
        yield node


def _chosen_by_name(facts: Facts, names: Names, call: ast.Call) -> bool:
    """`getattr(torch.optim, args.opt)(...)` and `torch.optim.__dict__[args.opt](...)`, or by a variable."""
    made = call.func
    if isinstance(made, ast.Name):
        bound = [binding.value for binding in names.bindings(made.id, made) if binding.kind == "assign"]
        made = bound[0] if len(bound) == 1 and bound[0] is not None else made
    if isinstance(made, ast.Subscript):
        return names.qualified(made.value) == ("torch.optim.__dict__",)
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Name) or not made.args:
        return False
    return made.func.id == "getattr" and _holds_optimizers(facts, names, made.args[0])


def _holds_optimizers(facts: Facts, names: Names, module: ast.expr) -> bool:
    """Whether an expression is torch.optim, or a module of the project with all of its names."""
    if names.qualified(module) == ("torch.optim",):
        return True
    values = facts.flow.values(names, module)
    return any(value.kind == "module" and "torch.optim" in value.names.stars for value in values)


def _strings_together(names: Names, call: ast.Call) -> bool:
    builtin = isinstance(call.func, ast.Name) and call.func.id in ("list", "tuple")
    return builtin or names.qualified(call.func) == ("itertools.chain",)


def _may_construct(names: Names) -> dict[ast.Call, None]:
    """Calls of imported names, of a class's name, of what is computed, and with `x.parameters()`."""
    given = (_together(names, call) for name in PARAMETERS for call in names.calls.get(name, ()))
    around = ((names.parents[parameters], parameters) for parameters in given)
    with_parameters = (
        call for call, first in around if isinstance(call, ast.Call) and first in call.args[:1]
    )
    imported = (call for call, _ in names.named_calls)
    chosen = (call for call in names.variable_calls if _choice(names, call) is not None)
    computed = (*names.calls.get("", ()), *calls_with_optimizers(names), *chosen)
    return dict.fromkeys((*imported, *names.class_calls, *computed, *with_parameters))


def _constructed(facts: Facts, names: Names, call: ast.Call) -> list[Value]:
    """The values of a call that constructs an optimizer: of one class, or of those of a test or a table."""
    choice = _choice(names, call)
    if choice is not None:
        classes = [*facts.flow.values(names, choice.body), *facts.flow.values(names, choice.orelse)]
    else:
        classes = _in_order(facts.flow.values(names, call.func))
        by_branches = isinstance(call.func, ast.Name) and len(classes) > 1
        classes = classes if by_branches or isinstance(call.func, ast.Subscript) else []
    made = [made for made in (_of_class(facts, names, call, value) for value in classes) if made is not None]
    if choice is not None or (made and len(made) == len(classes)):
        return made if len(made) == len(classes) else []
    value = _construction(facts, names, call)
    return [] if value is None else [value]


def _together(names: Names, given: ast.expr) -> ast.expr:
    """What `x.parameters()` is put together with: `itertools.chain(x.parameters(), y.parameters())`."""
    parent = names.parents[given]
    while isinstance(parent, (ast.Starred, ast.List, ast.Tuple, ast.BinOp)) or (
        isinstance(parent, ast.Call) and given in parent.args and _strings_together(names, parent)
    ):
        given, parent = parent, names.parents[parent]
    return given


def _choice(names: Names, call: ast.Call) -> ast.IfExp | None:
    """`make = SGD if args.sgd else LARS` above `make(...)`."""
    last = last_binding(names, call.func) if isinstance(call.func, ast.Name) else None
    return last.value if last is not None and isinstance(last.value, ast.IfExp) and not last.path else None


def _construction(facts: Facts, names: Names, call: ast.Call) -> Value | None:
    """The value of a call that constructs an optimizer."""
    direct = names.qualified(call.func)
    terminal = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    is_class = terminal[:1].isupper() or any(_gives_parameters(names, arg) for arg in call.args[:1])
    known = next((name for name in direct if words.is_optimizer(name)), None)
    if known is not None:
        copied = (_of_class(facts, names, call, value) for value in facts.flow.values(names, call.func))
        own = next((made for made in copied if made is not None and made.kind == "object"), None)
        return own or Value("made", known, call, names)
    if isinstance(call.func, ast.Name) and not names.bindings(call.func.id, call.func) and not names.stars:
        return None
    for value in facts.flow.values(names, call):
        if value.name == OPTIMIZER and value.node is call:
            return value
    for name in direct:
        if name in words.OPTIMIZER_FACTORIES:
            return Value("made", name, call, names)
    if _chosen_by_name(facts, names, call):
        return next((v for v in facts.flow.values(names, call) if v.node is call), None)
    if not is_class:
        return None
    every = (_of_class(facts, names, call, value) for value in _in_order(facts.flow.values(names, call.func)))
    return next((made for made in every if made is not None), None)


def _in_order(values: Iterable[Value]) -> list[Value]:
    """Values of a set, in an order that every run gives them."""
    return sorted(values, key=lambda value: (value.name, getattr(value.node, "lineno", 0)))


def _of_class(facts: Facts, names: Names, call: ast.Call, value: Value) -> Value | None:
    """What a call of an optimizer's class makes."""
    if value.kind == "name" and words.is_optimizer(value.name):
        return Value("made", value.name, call, names)
    if value.kind == "class" and any(words.is_optimizer(base) for base in facts.flow.bases(value)):
        return Value("object", value.name, value.node, value.names)
    return None


def _gives_parameters(names: Names, node: ast.expr) -> bool:
    """Whether an expression is made of `x.parameters()`: what takes it may be a class in a variable."""
    parts = [node] if isinstance(node, ast.Name) else _parts(names, node)
    return any(
        isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in PARAMETERS
        for part in parts
    )


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


def _argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    if len(call.args) > position:
        return call.args[position]
    return keyword(call, name)
