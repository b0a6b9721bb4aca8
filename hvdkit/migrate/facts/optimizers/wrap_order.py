"""What comes above and below the places where optimizers are wrapped: Horovod knows what is there by then."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts.code.loops import training_loops
from hvdkit.migrate.facts.code.running import walk_here
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.moves import moves_of
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.optimizers.wrap_places import WrapPlace, wrap_places
from hvdkit.migrate.values.binding_order import held_at
from hvdkit.source.index.names import FUNCTIONS, LOOPS, Names

MAX_CALLERS = 4


def late_groups(facts: Facts) -> Iterator[tuple[WrapPlace, Names, ast.Call]]:
    """Calls `optimizer.add_param_group(group)` that may run after the wrap, each with the place of that.

    A method that only hands its group on to another optimizer adds none of its own.
    """
    for names, call, receiver in facts.methods("add_param_group"):
        given = call.args[0] if call.args else None
        if given is None or {value.kind for value in facts.flow.values(names, given)} == {"param"}:
            continue
        values = facts.flow.values(names, receiver)
        for place in wrap_places(facts):
            if any(optimizer.value in values for optimizer in place.optimizers):
                if above_wrap(facts, place, names, call) != {True}:
                    yield place, names, call
                    break


def late_moves(facts: Facts) -> Iterator[tuple[WrapPlace, Names, ast.Call]]:
    """Calls that move a model and may run after its optimizer is wrapped, each with the place of that."""
    for place in wrap_places(facts):
        for optimizer in place.optimizers:
            for names, call in moves_of(facts, optimizer):
                if False in above_wrap(facts, place, names, call) and not _after_training(facts, names, call):
                    yield place, names, call


def earlier(place: WrapPlace, names: Names, call: ast.Call) -> ast.stmt | None:
    """The statement that makes the optimizer, or holds it, if a line that moves the model may stand above it.

    So it may where nothing in between names the model, and all that the line names is there above it.
    """
    moving, model = names.statement(call), getattr(call.func, "value", None)
    if not isinstance(moving, ast.Expr) or moving.value is not call or not isinstance(model, ast.Name):
        return None
    if place.names is not names or moving.lineno != moving.end_lineno:
        return None
    block = edits.block(names, moving)
    making = names.statement(place.call)
    anchor = next((s for s in (making, *names.ancestors(making)) if s in block), None)
    if not isinstance(anchor, ast.stmt) or anchor.lineno > moving.lineno:
        return None
    between = block[block.index(anchor) + 1 : block.index(moving)]
    run = [s for s in between if not isinstance(s, (*FUNCTIONS, ast.ClassDef))]
    inside = [part for statement in run for part in walk_here(statement)]
    if any(isinstance(part, ast.Name) and part.id == model.id for part in inside):
        return None
    named = [part for part in ast.walk(moving) if isinstance(part, ast.Name)]
    made = [binding.node for part in named for binding in held_at(names, part)]
    return anchor if all(getattr(node, "lineno", 0) < anchor.lineno for node in made) else None


def _after_training(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a node stands below the loops of its function that train, and in no loop."""
    function = names.function(node)
    ends = [
        loop.node.end_lineno or loop.node.lineno
        for path in training_loops(facts).paths
        for loop in path.loops
        if loop.names is names and names.function(loop.node) is function
    ]
    return bool(ends) and not names.in_loop(node) and getattr(node, "lineno", 0) > max(ends)


def above_wrap(facts: Facts, place: WrapPlace, names: Names, node: ast.AST, depth: int = 0) -> set[bool]:
    """Whether a node runs above a place: there, where the optimizer is made, or in what is called there.

    Both where it is called from above and below; nothing where who calls it is not seen.
    """
    function = names.function(node)
    here = place.names.function(place.statement)
    if names is place.names and function is here:
        if place.target is None and node in names.ancestors(place.call):
            return {False}  # `Trainer(hvd.DistributedOptimizer(Adam(...)))` is given what is wrapped
        last = place.statement.end_lineno or place.statement.lineno
        return {getattr(node, "lineno", last + 1) <= last}
    making = [each.names.function(each.node) for each in place.optimizers]
    making += [inner for each in place.optimizers for inner, _, _ in each.passed]
    if function is not None and any(function is inner and inner is not here for inner in making):
        return {True}
    sites = facts.flow.call_sites(names, function) if function is not None and depth < MAX_CALLERS else []
    found = {found for site in sites for found in above_wrap(facts, place, *site, depth + 1)}
    return found or _by_construction(place, names, node)


def _by_construction(place: WrapPlace, names: Names, node: ast.AST) -> set[bool]:
    """An object's __init__ runs above its other methods: what is known where nobody is seen to call them."""
    here, there = (
        (each.class_around(at), getattr(each.function(at), "name", "") == "__init__")
        for each, at in ((names, node), (place.names, place.statement))
    )
    if here[0] is None or there[0] is None or here[1] == there[1]:
        return set()
    return {True} if here[1] else {False} if here[0] is there[0] else set()


def made_anew_below(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether the function makes an optimizer again below a node, and above the next loop around both."""
    made = {optimizer.node for optimizer in averaging_optimizers(facts) if optimizer.names is names}
    child: ast.AST | None = names.statement(node)
    while isinstance(child, ast.stmt):
        following = edits.following(names, child)
        while following is not None:
            if not isinstance(following, LOOPS) and made.intersection(names.calls_in(following)):
                return True
            following = edits.following(names, following)
        parent = names.parents[child]
        child = parent if isinstance(parent, (ast.If, ast.With, ast.Try, *LOOPS)) else None
    return False
