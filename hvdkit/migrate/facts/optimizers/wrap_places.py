"""Where each optimizer is to be wrapped, and how its model's parameters are written there.

The place is where the training script gets its optimizer: right after the construction, after the if/elif
chain that chooses it, or after the call of the function that makes it; always before a scheduler, a
checkpoint or a loop sees it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import takewhile

from hvdkit.dataclass import dataclass
from hvdkit.migrate import edits
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.moves import moves_of
from hvdkit.migrate.facts.models.optimizers import Optimizer
from hvdkit.migrate.facts.models.parameter_roots import Passed
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import argument, head_of, passes_self
from hvdkit.migrate.values.handed_out import assigned_to
from hvdkit.migrate.values.spelling import spelled
from hvdkit.source.index.names import COMPREHENSIONS, FUNCTIONS, FunctionNode, Names

VARIABLES = (ast.Name, ast.Attribute, ast.Subscript)


@dataclass(frozen=True)
class WrapPlace:
    """One place to wrap. call: the expression whose value is the optimizer; target: its variable.

    statement: after which the wrap goes, unless there is no target. models: the modules whose parameters it
    trains, as written there; None when not all of them have a name there.
    """

    names: Names
    call: ast.Call
    statement: ast.stmt
    target: str | None
    optimizers: tuple[Optimizer, ...]
    models: tuple[str, ...] | None


@dataclass(frozen=True)
class _Way:
    """An optimizer's construction, or the call that hands it on, with the calls passed on the way."""

    optimizer: Optimizer
    names: Names
    call: ast.Call
    passed: tuple[Passed, ...] = ()


@once
def wrap_places(facts: Facts) -> list[WrapPlace]:
    """Every place where an optimizer that is not wrapped yet is to be wrapped."""
    by_value: dict[ast.expr, list[_Way]] = {}
    made = {optimizer.node for optimizer in averaging_optimizers(facts) if not optimizer.wrapped}
    for optimizer in averaging_optimizers(facts):
        if not optimizer.wrapped:
            way = _way(facts, optimizer)
            by_value.setdefault(_picked(way, made), []).append(way)
    places = [_place(facts, value, ways) for value, ways in by_value.items()]
    return [_below_changes(facts, place) for place in _joined(places)]


def _way(facts: Facts, optimizer: Optimizer) -> _Way:
    """The construction itself, or the factory's call around it, where all of its calls give a variable."""
    names, call = optimizer.names, optimizer.node
    passed = list(optimizer.passed)
    for number, (function, where, site) in enumerate(optimizer.passed):
        if not all(_simple(*other) for other in facts.flow.call_sites(names, function)):
            passed = passed[:number]
            break
        names, call = where, site
    return _Way(optimizer, names, call, tuple(passed))


def _picked(way: _Way, made: set[ast.Call]) -> ast.expr:
    """The `{"adam": Adam(...), "sgd": SGD(...)}[kind]` that a construction is an entry of, else its call."""
    table = way.names.parents[way.call]
    if isinstance(table, ast.Dict) and made.issuperset(table.values):
        picked = way.names.parents[table]
        if isinstance(picked, ast.Subscript) and picked.value is table:
            return picked
    return way.call


def _simple(names: Names, call: ast.Call) -> bool:
    statement = names.statement(call)
    is_returned = isinstance(statement, ast.Return) and statement.value is call
    return is_returned or assigned_to(statement, call) is not None


def _place(facts: Facts, value: ast.expr, ways: list[_Way]) -> WrapPlace:
    first = ways[0]
    names, statement = first.names, first.names.statement(first.call)
    target = assigned_to(statement, value)
    models: set[str] | None = set()
    for way in ways:
        written = _models(facts, way, statement)
        models = None if models is None or written is None else models | written
    return WrapPlace(
        names,
        first.call,
        statement,
        names.source.segment(target) if target is not None else None,
        tuple(way.optimizer for way in ways),
        tuple(sorted(_outermost(models))) if models else None,
    )


def _outermost(models: Iterable[str]) -> Iterator[str]:
    """Names without those that stand for a part of another: model covers model.head."""
    every = set(models)
    return (name for name in every if not any(name.startswith(f"{other}.") for other in every))


def _models(facts: Facts, way: _Way, statement: ast.stmt) -> set[str] | None:
    """How the modules of an optimizer are written at the place, if all of them can be."""
    optimizer = way.optimizer
    if not optimizer.roots or not optimizer.whole:
        return None
    found = {_written(facts, way, where, root, statement) for where, root in optimizer.roots}
    named = {name for name in found if name is not None}
    return named if len(named) == len(found) else None


def _written(facts: Facts, way: _Way, where: Names, root: ast.expr, statement: ast.stmt) -> str | None:
    """One module as text at the place: said the same, or through the calls on the way, or by a variable."""
    text, root_file = _as_is(facts, where, root), where
    at = way.optimizer.node
    passed = _onwards(way, where, root)
    if text is not None and passed is not None:
        for function, names, call in passed:
            text = _in_caller(facts, where, function, names, call, text)
            where = names
            if text is None:
                break
        if text is not None:
            none = not _always_asked(root_file, root, at) and (
                _may_be_none(facts, way.names, text, statement) or _only_sometimes(facts, root_file, root, at)
            )
            return None if none or bound_in_test(root_file, root, at) else text
    values = facts.flow.values(root_file, root)
    known = [value for value in values | facts.flow.unwrap(values) if value.kind != "param"]
    text = spelled(facts.flow, way.names, statement, known) if known else None
    if text is None or _left_by_loop(way.names, text, statement):
        return None
    held = facts.flow.unwrap(facts.flow.named(way.names, text.partition(".")[0], statement))
    return text if "." in text or facts.flow.unwrap(known) <= held else None


def _onwards(way: _Way, names: Names, root: ast.expr) -> tuple[Passed, ...] | None:
    """The calls between a module's function and the place; None when no function on the way is that one."""
    stops = [(way.optimizer.names, way.optimizer.node), *(passed[1:] for passed in way.passed)]
    for number, (where, call) in enumerate(stops):
        if where is names and names.function(call) is names.function(root):
            return way.passed[number:]
    return None


def _left_by_loop(names: Names, text: str, statement: ast.stmt) -> bool:
    """Whether a variable is that of a loop above: it holds the last of the models, not each of them."""
    around = {statement, *names.ancestors(statement)}
    return any(
        binding.kind == "each" and names.statement(binding.node) not in around
        for binding in names.bindings(text.partition(".")[0], statement)
    )


def _always_asked(names: Names, root: ast.expr, optimizer: ast.Call) -> bool:
    """Whether the construction itself asks a model for its parameters, which None would not survive."""
    for parent in names.ancestors(root):
        if parent is optimizer:
            return True
        if isinstance(parent, (ast.IfExp, ast.BoolOp, ast.Lambda, ast.stmt, *COMPREHENSIONS)):
            return False
    return False


def _may_be_none(facts: Facts, names: Names, text: str, statement: ast.stmt) -> bool:
    """Whether a variable is None on some way to the place: `fine = None`, and a model under a test."""
    values = facts.flow.named(names, text.partition(".")[0], statement)
    return any(value.is_none for value in values)


def _only_sometimes(facts: Facts, names: Names, root: ast.expr, optimizer: ast.Call) -> bool:
    """Whether a model may be None, and gives its parameters under a test: `if vae: p += e.parameters()`."""
    values = facts.flow.values(names, root)
    around = set(names.ancestors(optimizer))
    tested = any(isinstance(parent, ast.If) and parent not in around for parent in names.ancestors(root))
    unknown = isinstance(root, ast.Attribute) and not values  # a library's model, which may lack this part
    none = any(value.is_none for value in values)
    return tested and (unknown or none or _stored_sometimes(facts, names, root))


def _stored_sometimes(facts: Facts, names: Names, root: ast.expr) -> bool:
    """Whether an object may lack an attribute: `if encode: self.encoder = Encoder()`, and no else."""
    stored = facts.flow.stored(names, root) if isinstance(root, ast.Attribute) else []
    return bool(stored) and all(
        any(
            isinstance(parent, ast.If) and not parent.orelse
            for parent in takewhile(lambda p: not isinstance(p, FUNCTIONS), where.ancestors(binding.node))
        )
        for where, binding in stored
    )


def bound_in_test(names: Names, root: ast.expr, optimizer: ast.AST) -> bool:
    """Whether a model has its name under a test alone: `if vae: e = Encoder(); p += e.parameters()`."""
    head = head_of(root)
    around = set(names.ancestors(optimizer))
    tests = [
        parent for parent in names.ancestors(root) if isinstance(parent, ast.If) and parent not in around
    ]
    bindings = names.bindings(head.id, root) if isinstance(head, ast.Name) else []
    inside = [set(names.ancestors(binding.node)) for binding in bindings]
    return bool(inside) and any(all(test in each for each in inside) for test in tests)


def _as_is(facts: Facts, names: Names, root: ast.expr) -> str | None:
    """A variable, attribute or entry as text; loop variables stand for another model each time.

    `.module` of a model that DDP or DataParallel wraps is left out, wherever it stands: it goes.
    """
    node, parts = root, []
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Subscript):
            if not isinstance(node.slice, ast.Constant):
                return None
            parts.append(f"[{names.source.segment(node.slice)}]")
        else:
            wrapped = any(value.name in words.WRAPS for value in facts.flow.values(names, node.value))
            if node.attr != "module" or not wrapped:
                parts.append(f".{node.attr}")
        node = node.value
    if not isinstance(node, ast.Name) or any(b.kind == "each" for b in names.bindings(node.id, node)):
        return None
    return "".join((node.id, *reversed(parts)))


def _in_caller(
    facts: Facts, names: Names, function: FunctionNode, where: Names, call: ast.Call, text: str
) -> str | None:
    """A parameter (with its attributes) of a function as its caller writes it."""
    head, dot, tail = text.partition(".")
    bound = passes_self(names, function, where, call)
    if bound and function.args.args and function.args.args[0].arg == head:
        given = call.func.value if isinstance(call.func, ast.Attribute) else None
    else:
        given = argument(function, call, head, bound)
    written = _as_is(facts, where, given) if given is not None else None
    return None if written is None else f"{written}{dot}{tail}"


def _below_changes(facts: Facts, place: WrapPlace) -> WrapPlace:
    """The place below the groups that the next lines add, and below those that move the model.

    Horovod averages what the optimizer has by then, by hooks that a parameter loses when it is moved.
    """
    names, last = place.names, place.statement
    moves = {call for each in place.optimizers for _, call in moves_of(facts, each)}
    following = edits.following(names, last)
    while following is not None and place.target is not None:
        inside = (node for node in ast.walk(following) if isinstance(node, VARIABLES))
        uses = [node for node in inside if names.source.segment(node) == place.target]
        if not all(_adds_group(names, use) for use in uses):
            break
        moved = not isinstance(following, (*FUNCTIONS, ast.ClassDef)) and any(
            call in moves for call in names.calls_in(following)
        )
        last = following if uses or moved else last
        following = edits.following(names, following)
    return replace(place, statement=last)


def _adds_group(names: Names, node: ast.AST) -> bool:
    """Whether an expression is the x of `x.add_param_group(...)`."""
    parent = names.parents[node]
    return isinstance(parent, ast.Attribute) and parent.attr == "add_param_group"


def _joined(places: list[WrapPlace]) -> Iterator[WrapPlace]:
    """Places in all branches of one if/elif/else chain that assign the same variable become one after it."""
    waiting = list(places)
    while waiting:
        place = waiting.pop(0)
        chain = _chain(place)
        mates = [other for other in waiting if chain is not None and _chain(other) is chain]
        mates = [other for other in mates if other.target == place.target]
        if chain is None or not mates or not _covered(chain, [place, *mates]):
            yield place
            continue
        waiting = [other for other in waiting if other not in mates]
        every = [place, *mates]
        models = [other.models for other in every]
        known = {name for names in models if names for name in names}
        together = None if None in models else tuple(sorted(_outermost(known)))
        optimizers = tuple(optimizer for other in every for optimizer in other.optimizers)
        yield WrapPlace(place.names, place.call, chain, place.target, optimizers, together)


def _chain(place: WrapPlace) -> ast.If | None:
    """The if statement at the head of the chain in one of whose branches a place stands directly."""
    names = place.names
    parent = names.parents[place.statement]
    if place.target is None or not isinstance(parent, ast.If):
        return None
    outer = names.parents[parent]
    while isinstance(outer, ast.If) and outer.orelse == [parent]:
        parent, outer = outer, names.parents[outer]
    return parent


def _covered(chain: ast.If, places: list[WrapPlace]) -> bool:
    """Whether every branch ends with one of the places, or leaves."""
    statements = {place.statement for place in places}
    branches = [chain.body]
    rest = chain.orelse
    while len(rest) == 1 and isinstance(rest[0], ast.If):
        branches.append(rest[0].body)
        rest = rest[0].orelse
    branches.append(rest)
    return all(
        block
        and (block[-1] in statements or isinstance(block[-1], (ast.Raise, ast.Return)) or _fails(block[-1]))
        for block in branches
    )


def _fails(statement: ast.stmt) -> bool:
    """`assert False` and `assert False and "a message"`."""
    test = statement.test if isinstance(statement, ast.Assert) else None
    first = test.values[0] if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else test
    return isinstance(first, ast.Constant) and not first.value
