"""The optimizers of a project, and which models' parameters each one trains."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.parameter_roots import (
    PARAMETERS,
    Passed,
    all_from_modules,
    gives_parameters,
    in_caller,
    parameter_roots,
    put_together_with,
)
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import given
from hvdkit.migrate.values.binding_order import last_binding
from hvdkit.migrate.values.handed_out import handed_out, made_per_call
from hvdkit.migrate.values.lookups import OPTIMIZER, calls_with_optimizers, handed_on
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Binding, Names


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


@once
def every_optimizer(facts: Facts) -> list[Optimizer]:
    """Every construction of an optimizer that trains, in file order."""
    fitting = input_fits(facts)
    return [optimizer for optimizer in _every_optimizer(facts) if optimizer not in fitting]


@once
def input_fits(facts: Facts) -> list[Optimizer]:
    """The optimizers that fit a tensor to one input, as an attack or a latent code: they train nothing."""
    return [each for each in _every_optimizer(facts) if _fits_inputs(each.names, each.node)]


def in_input_fit(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a node is in a function that creates such an optimizer, whose backward passes train nothing."""
    function = names.function(node)
    return function is not None and any(
        each.names.function(each.node) is function for each in input_fits(facts)
    )


@once
def _every_optimizer(facts: Facts) -> list[Optimizer]:
    taken = {
        value
        for site in facts.calls(*words.HVD_OPTIMIZER)
        for value in facts.flow.values(site.names, given(site.node, 0, "optimizer"))
    }
    found = []
    for names in facts.files:
        for call in _may_construct(names):
            for value in _constructed(facts, names, call):
                for way in _ways(facts, names, call):
                    found.append(_optimizer(facts, names, call, value, way, taken))
    found = [optimizer for optimizer in found if not _around_another(facts, optimizer, found)]
    inside = _made_inside(facts, found)
    found = [optimizer for optimizer in found if optimizer.value._replace(call=None) not in inside]
    return sorted(found, key=lambda o: (str(o.names.source.path), o.node.lineno, o.node.col_offset))


def _fits_inputs(names: Names, optimizer: ast.Call) -> bool:
    """Whether an optimizer is given a list of tensors that its function fits to what it is given."""
    given = optimizer.args[0] if optimizer.args else None
    listed = given.elts if isinstance(given, (ast.List, ast.Tuple)) else []
    return bool(listed) and all(is_input(names, each) for each in listed)


def is_input(names: Names, changed: ast.expr | None) -> bool:
    """Whether a tensor is made in a function that is given what it is fitted to, and returned: a latent code.

    It is the answer for one input, as a prediction is. What is made beside the function's call, or outlives
    it, is a weight; so is what is fitted to batches that a loop draws.
    """
    while isinstance(changed, ast.Attribute):
        changed = changed.value
    function = names.function(changed) if isinstance(changed, ast.Name) else None
    if not isinstance(changed, ast.Name) or not isinstance(function, ast.FunctionDef):
        return False
    if not {arg.arg for arg in function.args.args} - {"self", "cls"}:
        return False
    bindings = names.bindings(changed.id, changed)
    made = [binding for binding in bindings if not isinstance(names.parents[binding.node], ast.AugAssign)]
    local = bool(made) and all(_makes_tensor(names, binding, function) for binding in made)
    results = names.returns.get(function, ())
    return local and changed.id in _made_from(names, function, results) and _repeats(names, function)


def _made_from(names: Names, function: ast.FunctionDef, values: Iterable[ast.expr]) -> set[str]:
    """The variables that some values are made from in a function, through its assignments."""
    found: set[str] = set()
    waiting = list(values)
    while waiting:
        for part in ast.walk(waiting.pop()):
            if isinstance(part, ast.Name) and part.id not in found:
                found.add(part.id)
                for binding in names.bindings(part.id, part):
                    if binding.value is not None and names.function(binding.node) is function:
                        waiting.append(binding.value)
    return found


def _makes_tensor(names: Names, binding: Binding, function: ast.AST) -> bool:
    """Whether a function gives a variable what a call makes, and that is no Parameter."""
    value = binding.value if binding.kind == "assign" and names.function(binding.node) is function else None
    return isinstance(value, ast.Call) and not any(
        name.endswith(".Parameter") for call in names.calls_in(value) for name in names.qualified(call.func)
    )


def _repeats(names: Names, function: ast.FunctionDef) -> bool:
    """Whether all loops of a function do the same in each turn: `for _ in range(n)`, which draws no batch."""
    loops = [part for part in names.walk(function) if isinstance(part, (ast.For, ast.AsyncFor, ast.While))]
    for loop in loops:
        called = getattr(loop, "iter", None)
        counts = isinstance(called, ast.Call) and getattr(called.func, "id", "") in ("range", "trange")
        counted = {part.id for part in ast.walk(getattr(loop, "target", loop)) if isinstance(part, ast.Name)}
        parts = (part for step in loop.body for part in ast.walk(step))
        picks = [part for part in parts if isinstance(part, (ast.Subscript, ast.Call))]
        used = {part.id for pick in picks for part in ast.walk(pick) if isinstance(part, ast.Name)}
        if not counts or counted & used:
            return False
    return bool(loops) and "next" not in {getattr(c.func, "id", "") for c in names.calls_in(function)}


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
    if made_per_call(facts.flow, value):
        known += [value._replace(call=(where, site)) for _, where, site in way]
    value = known[-1]
    roots = _roots(facts, names, given, value, way)
    whole = all_from_modules(facts, names, given)
    for where, group in (added for each in known for added in groups_added(facts, each)):
        more = tuple(parameter_roots(facts, where, group, way))
        whole = whole and bool(roots and more) and all_from_modules(facts, where, group)
        roots = tuple(dict.fromkeys((*roots, *more)))
    models: frozenset[Value] = frozenset()
    for where, root in roots:
        models |= facts.flow.unwrap(facts.flow.values(*in_caller(where, root, way)))
    return Optimizer(names, call, value, roots, models, whole, value in taken, way)


def _parameters(facts: Facts, names: Names, call: ast.Call, value: Value) -> ast.expr | None:
    """What an optimizer's construction is given to train."""
    if value.name == OPTIMIZER:
        return next((handed_on(*made, call) for made in facts.flow.functions(names, call)), None)
    return given(call, *words.OPTIMIZER_FACTORIES.get(value.name, (0, "params")))


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
                inside.update(value._replace(call=None) for values in made for value in values)
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


def _may_construct(names: Names) -> dict[ast.Call, None]:
    """Calls of imported names, of a class's name, of what is computed, and with `x.parameters()`."""
    given = (put_together_with(names, call) for name in PARAMETERS for call in names.calls.get(name, ()))
    around = ((names.parents[parameters], parameters) for parameters in given)
    with_parameters = (
        call for call, first in around if isinstance(call, ast.Call) and first in call.args[:1]
    )
    imported = (call for call, _ in names.named_calls)
    chosen = (call for call in names.variable_calls if _choice(names, call) is not None)
    computed = (*names.calls.get("", ()), *calls_with_optimizers(names), *chosen)
    return dict.fromkeys((*imported, *names.class_calls, *computed, *with_parameters))


def _constructed(facts: Facts, names: Names, call: ast.Call) -> list[Value]:
    """The values of a call that constructs an optimizer: of one class, or of those of tests or a table."""
    choice = _choice(names, call)
    if choice is not None:
        classes = [*facts.flow.values(names, choice.body), *facts.flow.values(names, choice.orelse)]
    else:
        chosen = facts.flow.values(names, call.func)
        several = isinstance(call.func, ast.Subscript) or (
            isinstance(call.func, ast.Name) and len(chosen) > 1
        )
        classes = _in_order(chosen) if several else []
    made = [made for made in (_of_class(facts, names, call, value) for value in classes) if made is not None]
    if choice is not None or (made and len(made) == len(classes)):
        return made if len(made) == len(classes) else []
    value = _construction(facts, names, call)
    return [] if value is None else [value]


def _choice(names: Names, call: ast.Call) -> ast.IfExp | None:
    """`make = SGD if args.sgd else LARS` above `make(...)`."""
    last = last_binding(names, call.func) if isinstance(call.func, ast.Name) else None
    return last.value if last is not None and isinstance(last.value, ast.IfExp) and not last.path else None


def _construction(facts: Facts, names: Names, call: ast.Call) -> Value | None:
    """The value of a call that constructs an optimizer."""
    direct = names.qualified(call.func)
    terminal = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    is_class = terminal[:1].isupper() or any(gives_parameters(names, arg) for arg in call.args[:1])
    known = next((name for name in direct if words.is_optimizer(name)), None)
    if known is not None:
        copied = (
            _of_class(facts, names, call, value) for value in _in_order(facts.flow.values(names, call.func))
        )
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
    """Values by name and place: which of several classes is taken first is not to be left to a set."""
    return sorted(values, key=lambda v: (v.name, str(v.names.source.path), getattr(v.node, "lineno", 0)))


def _of_class(facts: Facts, names: Names, call: ast.Call, value: Value) -> Value | None:
    """What a call of an optimizer's class makes."""
    if value.kind == "name" and words.is_optimizer(value.name):
        return Value("made", value.name, call, names)
    if value.kind == "class" and any(words.is_optimizer(base) for base in facts.flow.bases(value)):
        return Value("object", value.name, value.node, value.names)
    return None
