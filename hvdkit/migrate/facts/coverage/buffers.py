"""Buffers of the models that DDP wraps: which evaluation needs rank 0's, and which ones training changes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.code.call_graph import call_graph
from hvdkit.migrate.facts.code.callers import in_own_function, on_some_way
from hvdkit.migrate.facts.collectives.same_on_every_rank import same_change_on_every_rank
from hvdkit.migrate.facts.coverage.trained_wraps import trained_wraps
from hvdkit.migrate.facts.data.cut_by_rank import is_rank_share
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.wraps import Wrap
from hvdkit.migrate.facts.programs.programs import files_with, kinds_of, programs_of
from hvdkit.migrate.facts.programs.reached_code import only_single, runs_in, trained_by
from hvdkit.migrate.values.arguments import keyword, positional
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import FUNCTIONS, FunctionNode, Names

# Models whose code is not the project's: they may hold BatchNorm layers. These hold no buffers that change.
PLAIN = ("torch.nn.Linear", "torch.nn.Conv", "torch.nn.Transformer", "torch.nn.LSTM", "torch.nn.GRU")
BUILDING = frozenset(("__init__", "reset_parameters", "_init_weights"))
FORWARD = frozenset(("forward", "__call__"))
NORMS = ("BatchNorm", "InstanceNorm", "register_buffer")


def sending_wraps(facts: Facts) -> list[Wrap]:
    """DDP calls of training programs that send rank 0's buffers before each forward pass."""
    found = {id(wrap.node): wrap for _, wrap, _ in trained_wraps(facts)}
    return [wrap for wrap in found.values() if not _switched_off(wrap)]


def _switched_off(wrap: Wrap) -> bool:
    for name in ("broadcast_buffers", "forward_sync_buffers"):
        value = keyword(wrap.node, name)
        if isinstance(value, ast.Constant) and value.value is False:
            return True
    return wrap.name.startswith("apex.")  # apex's DDP sends no buffers


def has_buffers(facts: Facts, wrap: Wrap) -> bool:
    """Whether the wrapped model may hold buffers that training changes."""
    files = files_with(facts, wrap.names)
    for model in wrap.models:
        if model.kind != "object" and not model.name.startswith(PLAIN):
            return True
    text = [names.source.text for names in files] if wrap.models else []
    return not wrap.models or any(norm in source for source in text for norm in NORMS)


def evaluations(facts: Facts) -> Iterator[tuple[Names, ast.Call, ast.expr]]:
    """`model.eval()` of a wrapped model whose buffers DDP kept equal on all ranks."""
    wraps = {wrap.value for wrap in sending_wraps(facts) if has_buffers(facts, wrap)}
    for names, call, receiver in facts.methods("eval"):
        in_job = wraps and "ddp" in kinds_of(facts, names)
        if (
            in_job
            and not call.args
            and any(value._replace(call=None) in wraps for value in facts.flow.values(names, receiver))
        ):
            yield names, call, receiver


def over_uneven_share(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a node runs in a loop over `cases[rank::size]`, which is not as long on every rank."""

    def at(where: Names, place: ast.AST) -> bool | None:
        loops = (parent for parent in in_own_function(where, place) if isinstance(parent, ast.For))
        return True if any(is_rank_share(facts, where, loop.iter) for loop in loops) else None

    return on_some_way(facts, names, node, at)


def changed_in_training(facts: Facts) -> Iterator[tuple[Names, ast.Call, str]]:
    """register_buffer calls of buffers that the module's own code changes after it was built.

    A queue of what was gathered from all ranks is the same on each of them.
    """
    wrapping = {wrap.names for wrap in sending_wraps(facts)}
    programs = [program for program in programs_of(facts) if wrapping & program.files]
    files = {names for program in programs for names in program.files}
    for names in facts.files:
        for call in names.calls.get("register_buffer", ()) if names in files else ():
            first = call.args[0] if call.args else None
            owner = names.class_around(call)
            if owner is None or not _may_be_wrapped(facts, owner):
                continue
            if not any(runs_in(facts, program, names, call) for program in programs):
                continue  # a model that other programs make
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                changes = [part for part in names.walk(owner) if _changes(facts, names, part, first.value)]
                if not all(same_change_on_every_rank(facts, names, part) for part in changes):
                    yield names, call, first.value


def kept_apart(facts: Facts) -> Iterator[tuple[Names, ast.Call, list[str]]]:
    """The first register_buffer of a class, with all its buffers that training fills with what it is given.

    In programs of one process, which have one such buffer, filled from all samples. The means of a layer that
    normalizes are not meant: each rank's are its own under DDP, too, until rank 0's are sent.
    """
    found: dict[ast.ClassDef, tuple[Names, ast.Call, list[str]]] = {}
    for names in facts.files:
        for call in names.calls.get("register_buffer", ()) if only_single(facts, names) else ():
            first, owner = call.args[0] if call.args else None, names.class_around(call)
            if owner is None or not isinstance(first, ast.Constant) or _normalizes(facts, names, owner):
                continue
            changes = [part for part in names.walk(owner) if _changes(facts, names, part, str(first.value))]
            if any(_is_given(names, part) and trained_by(facts, names, part) for part in changes):
                found.setdefault(owner, (names, call, []))[2].append(str(first.value))
    yield from found.values()


def _normalizes(facts: Facts, names: Names, owner: ast.ClassDef) -> bool:
    """Whether a class is one of torch's layers that normalize, with something of its own."""
    bases = facts.flow.bases(Value("class", owner.name, owner, names))
    return any(base.startswith("torch.nn.") and "Norm" in base.rpartition(".")[2] for base in bases)


def _is_given(names: Names, change: ast.AST) -> bool:
    """Whether a statement is made from what its method was given, through the variables of the method."""
    function = names.function(change)
    given = set(positional(function)[1:]) if isinstance(function, FUNCTIONS) else set()
    waiting, seen = [names.statement(change)], set()
    while waiting:
        for part in names.walk(waiting.pop()):
            if isinstance(part, ast.Name) and part.id not in seen:
                seen.add(part.id)
                bindings = [b for b in names.bindings(part.id, part) if b.kind != "param"]
                waiting += [names.statement(b.node) for b in bindings if names.function(b.node) is function]
    return not given.isdisjoint(seen)


def _may_be_wrapped(facts: Facts, owner: ast.ClassDef) -> bool:
    """Whether a class is a model that DDP wraps, or may be a part of one: a loss made beside it is not."""
    if any(model.node is owner for w in sending_wraps(facts) for model in w.models):
        return True
    made = [(names, call) for names in facts.files for call in names.calls.get(owner.name, ())]
    inside = [any(isinstance(p, ast.ClassDef) for p in names.ancestors(call)) for names, call in made]
    return not made or any(inside)


def _changes(facts: Facts, names: Names, node: ast.AST, buffer: str) -> bool:
    """Whether a node is self.buffer, written or changed in place by what runs after the model is built."""
    if not (isinstance(node, ast.Attribute) and node.attr == buffer and isinstance(node.value, ast.Name)):
        return False
    function = next((p for p in names.ancestors(node) if isinstance(p, FUNCTIONS)), None)
    if function is None or not _runs_later(facts, names, function, set()):
        return False
    whole: ast.AST = node
    parent = names.parents[whole]
    while isinstance(parent, (ast.Subscript, ast.Attribute)):
        if isinstance(parent, ast.Attribute) and isinstance(names.parents.get(parent), ast.Call):
            return parent.attr.endswith("_") and not parent.attr.startswith("_")
        whole, parent = parent, names.parents[parent]
    return isinstance(getattr(whole, "ctx", None), ast.Store)


def _runs_later(facts: Facts, names: Names, function: FunctionNode, seen: set[FunctionNode]) -> bool:
    """Whether more than constructors reach a function; handed on, as a hook is, it may run at any time."""
    name = getattr(function, "name", "")
    if name in BUILDING or function in seen:
        return False
    if name in FORWARD or not name:
        return True
    seen.add(function)
    ways = call_graph(facts).ways(names, function)
    if not ways:
        return any(program.entry is names for program in programs_of(facts))  # a console script's
    for where, place in ways:
        if isinstance(place, ast.Call):
            caller = where.function(place)
            if caller is None or _runs_later(facts, where, caller, seen):
                return True
        elif not isinstance(place, ast.ClassDef):
            return True
    return False
