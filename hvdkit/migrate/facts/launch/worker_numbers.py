"""Where the number of a spawned worker is used for the rank, which it is as long as there is one host."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Callable

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.launch import Origin, launch_of
from hvdkit.migrate.facts.launch.ranks import constant
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.launched_processes import functions_below, processes
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import given, passed, spawned
from hvdkit.source.index.names import FunctionNode, Names

SEEDS = frozenset(
    ("random.seed", *(f"numpy.random.{name}" for name in ("seed", "RandomState", "default_rng")))
)
SEEDING = ("manual_seed", "manual_seed_all", "seed", "RandomState", "default_rng")  # as they are called
SPLITS = ("split", "chunk", "tensor_split", "array_split")
SAMPLER = ("torch.utils.data.Sampler", "torch.utils.data.sampler.Sampler")


def numbers_for_rank(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """The uses of a worker's number that mean the rank of the job."""
    if launch_of(facts).rank_indices:
        for names, node in (
            *_compared(facts),
            *_sampled(facts),
            *_shared_out(facts),
            *_reckoned(facts),
            *_beside_device(facts),
            *_seeded(facts),
        ):
            if isinstance(node, (ast.Name, ast.Attribute)) and _is_index(facts, names, node):
                yield names, node


def _compared(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """What is compared with 0."""
    for names in facts.files:
        if "ddp" not in kinds_of(facts, names):
            continue
        for node in names.of_kind(ast.Compare):
            if len(node.ops) == 1 and constant(node.comparators[0]) == 0:
                if isinstance(node.ops[0], (ast.Eq, ast.NotEq, ast.Gt)):
                    yield from _tested(facts, names, node.left)


def _tested(facts: Facts, names: Names, node: ast.expr) -> Iterator[tuple[Names, ast.expr]]:
    """A number that is tested; where some worker gives a 0 for it, what the others give."""
    yield names, node
    if isinstance(node, ast.Name) and not _is_index(facts, names, node):
        function = names.function(node)
        if function is not None and _only(names, function, node.id, _compares):
            yield from _given_for(facts, names, function, node.id)


def _compares(names: Names, use: ast.Name) -> bool:
    return isinstance(names.parents[use], ast.Compare)


def _sampled(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """What a DistributedSampler is given as its rank, and what one of the project's own is."""
    for site in facts.calls(*words.SAMPLERS):
        rank = given(site.node, words.ASKING_SAMPLERS.get(site.name, 1) + 1, "rank")
        if rank is not None:
            yield site.names, rank
    for names in facts.files:
        for owner in names.of_kind(ast.ClassDef):
            bases = {name for base in owner.bases for name in facts.flow.qualified(names, base)}
            if bases & {*words.SAMPLERS, *SAMPLER}:
                yield from _given_to(facts, owner)


def _given_to(facts: Facts, owner: ast.ClassDef) -> Iterator[tuple[Names, ast.expr]]:
    """What the calls of a project's class are given: a sampler knows no devices."""
    for names in facts.files:
        for call in names.calls.get(owner.name, ()):
            if any(value.node is owner for value in facts.flow.values(names, call.func)):
                for given in (*call.args, *(item.value for item in call.keywords)):
                    yield names, given


def _shared_out(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """What picks a part of data that is split here: `index.split(n)[rank]`."""
    for names in facts.files:
        for call in (call for method in SPLITS for call in names.calls.get(method, ())):
            part = names.parents[call]
            if isinstance(part, ast.Subscript) and part.value is call and "ddp" in kinds_of(facts, names):
                yield names, part.slice


def _reckoned(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """What is reckoned together with the number of all processes: `seed * size + rank`."""
    for names in facts.files:
        if "ddp" not in kinds_of(facts, names):
            continue
        for node in names.of_kind(ast.BinOp):
            parts = [part for part in _terms(node) if isinstance(part, (ast.Name, ast.Attribute))]
            if len(parts) > 1 and not isinstance(names.parents[node], ast.BinOp):
                if any(_of_all(facts, names, part) for part in parts):
                    yield from ((names, part) for part in parts)


def _of_all(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether a number is that of all processes, or a share by it: `part = len(data) // size`."""
    if "size" in launch_of(facts).meaning(names, node):
        return True
    bound = names.bindings(node.id, node) if isinstance(node, ast.Name) else []
    values = [binding.value for binding in bound if binding.kind == "assign" and binding.value is not None]
    return any(
        isinstance(part, ast.BinOp)
        and isinstance(part.op, (ast.Div, ast.FloorDiv))
        and "size" in launch_of(facts).meaning(names, part.right)
        for value in values
        for part in names.walk(value)
    )


def _terms(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp):
        yield from _terms(node.left)
        yield from _terms(node.right)
    else:
        yield node


def _beside_device(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """What is given to a call beside the size of the job and the device: it can only be the rank."""
    for names in facts.files:
        for call in names.of_kind(ast.Call) if "ddp" in kinds_of(facts, names) else ():
            given = [*call.args, *(item.value for item in call.keywords)]
            named = [part for part in given if isinstance(part, (ast.Name, ast.Attribute))]
            if len(named) > 2 and any("size" in launch_of(facts).meaning(names, part) for part in named):
                if any("torch.device" in facts.flow.made(names, part) for part in given):
                    yield from ((names, part) for part in named)


def _seeded(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """What random numbers are seeded with, alone or in a sum: two hosts would draw the same."""
    for names in facts.files:
        if "ddp" not in kinds_of(facts, names):
            continue
        for call in (call for method in SEEDING for call in names.calls.get(method, ())):
            if call.args and _seeds(names, call):
                for term in _terms(call.args[0]):
                    yield from _handed(facts, names, term)


def _seeds(names: Names, call: ast.Call) -> bool:
    """Whether a call seeds random numbers: of Python, NumPy, torch, or a generator of torch's."""
    of_torch = getattr(call.func, "attr", "") in ("manual_seed", "manual_seed_all")
    return of_torch or not SEEDS.isdisjoint(names.qualified(call.func))


def _handed(facts: Facts, names: Names, node: ast.expr) -> Iterator[tuple[Names, ast.expr]]:
    """A term of a seed; where it is a parameter of a function that only seeds with it, what that is given."""
    function = names.function(node)
    if isinstance(node, ast.Name) and function is not None and _only(names, function, node.id, _in_seed):
        for where, value in _given_for(facts, names, function, node.id):
            yield from ((where, term) for term in _terms(value))
    else:
        yield names, node


def _in_seed(names: Names, use: ast.Name) -> bool:
    calls = [parent for parent in names.ancestors(use) if isinstance(parent, ast.Call)]
    return any(_seeds(names, call) or getattr(call.func, "id", "") == "str" for call in calls)


def _only(
    names: Names, function: FunctionNode, name: str, accepts: Callable[[Names, ast.Name], bool]
) -> bool:
    """Whether a name is a parameter of a function, which does nothing else with it than what is accepted."""
    uses = [use for use in names.uses.get(name, ()) if function in names.ancestors(use)]
    kinds = {binding.kind for use in uses for binding in names.bindings(name, use)}
    return kinds == {"param"} and all(accepts(names, use) for use in uses)


def _given_for(
    facts: Facts, names: Names, function: FunctionNode, parameter: str
) -> Iterator[tuple[Names, ast.expr]]:
    """What the calls of a function give for a parameter."""
    for where, site in facts.flow.call_sites(names, function):
        value = passed(names, function, where, site, parameter)
        if value is not None:
            yield where, value


def _is_index(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether an expression is a spawned worker's number that is the rank, or the 0 of a plain call."""
    origins = launch_of(facts).origins(names, node)
    ranks = [
        origin
        for origin in origins
        if origin.kind == "index" and origin.node in launch_of(facts).rank_indices
    ]
    return bool(ranks) and all(o.kind == "index" or _of_lone(facts, o) for o in origins)


def _of_lone(facts: Facts, origin: Origin) -> bool:
    """Whether an origin is the 0 of a plain call, in place of a worker: not one that every worker gives."""
    names, node = origin.names, origin.node
    if constant(node) != 0:
        return False
    given = not isinstance(names.parents[node], ast.arguments)  # else the default of a parameter
    return not given or _in_workers(facts).isdisjoint((node, *names.ancestors(node)))


@once
def _in_workers(facts: Facts) -> frozenset[ast.AST]:
    """The functions that workers run, those that are started and all that they call."""
    started = [(site.names, site.node, spawned(site.names, site.node)) for site in launch_of(facts).spawns]
    return frozenset(
        function
        for names, _, worker in (*started, *processes(facts))
        if worker is not None
        for function in functions_below(facts, names, worker)
    )
