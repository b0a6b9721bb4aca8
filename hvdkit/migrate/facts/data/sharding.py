"""How a loader gives each rank its own share of the data, and whether its sampler hears of the epochs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.code.complete_values import may_only_be
from hvdkit.migrate.facts.data.loaders import Loader
from hvdkit.migrate.facts.data.loaders_of_phases import Phase, phase_trained
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.launch.which_processes import no_rank_comes
from hvdkit.migrate.facts.programs.paper_runs import ranks_take_turns
from hvdkit.migrate.facts.programs.programs import programs_with
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import given, is_constant, is_on
from hvdkit.migrate.values.keywords import keywords
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import FUNCTIONS, Names

BATCH_SAMPLER = "torch.utils.data.BatchSampler"
ITERABLE = "torch.utils.data.IterableDataset"
PLAIN_SAMPLERS = tuple(
    f"torch.utils.data.{name}Sampler" for name in ("Random", "Sequential", "SubsetRandom", "WeightedRandom")
)
WEIGHTED = "torch.utils.data.WeightedRandomSampler"
DISTRIBUTE = "hvdkit.torch.distribute"
MAX_STEPS = 4


def share(facts: Facts, loader: Loader) -> str:
    """What gives each rank its own data, in two or three words; "" when nothing was found that does."""
    names = loader.names
    if loader.value.name in words.LIBRARY_LOADERS:
        return f"{loader.value.name.partition('.')[0]}'s loader"
    for expression in (loader.sampler, loader.batch_sampler):
        found = _sampler(facts, names, facts.flow.values(names, expression))
        if found:
            return found
    for value in facts.flow.values(names, loader.dataset):
        if ITERABLE in facts.flow.bases(value) and _knows_rank(facts, value):
            return "a data set that reads its rank's part"
    if any(
        loader.value in facts.flow.values(site.names, site.node.args[0])
        for site in facts.calls(DISTRIBUTE)
        if site.node.args
    ):
        return "hvd.distribute"
    return ""


def without_sampler(facts: Facts, loader: Loader) -> list[Value]:
    """Each None, or PyTorch's plain sampler, that a loader's sampler may be in a job of several ranks.

    Each rank draws all of the data then. Not those of a program of one process, nor those of another phase:
    `sampler = DistributedSampler(data) if size > 1 else None`, `... if phase == "train" else None`.
    """
    given = [each for each in (loader.sampler, loader.batch_sampler) if each is not None]
    if len(given) != 1:
        return []
    phase = phase_trained(facts, loader)
    return [
        value
        for value in sorted(facts.flow.values(loader.names, given[0]), key=_place)
        if value.is_none or (value.name in PLAIN_SAMPLERS and not draws_share(facts, value))
        if not no_rank_comes(facts, value.names, value.node)
        if phase is None or value.names is not loader.names or not _evaluates(phase, value)
    ]


def draws_share(facts: Facts, sampler: Value) -> bool:
    """Whether a weighted sampler draws a share of the samples, by random numbers of the rank's own."""
    call = sampler.node
    if sampler.name != WEIGHTED or not isinstance(call, ast.Call):
        return False
    count, generator = given(call, 1, "num_samples"), given(call, 3, "generator")
    kinds = rank_kinds(facts)
    return (
        count is not None
        and generator is not None
        and kinds.inside(sampler.names, count, "size")
        and kinds.inside(sampler.names, generator, "rank")
    )


def _evaluates(phase: Phase, value: Value) -> bool:
    """Whether a value is chosen only where the loader is not the one to be trained on."""
    trains, evaluates = (ast.unparse(ast.parse(test)) for test in (phase.trains, phase.evaluates))
    child: ast.AST = value.node
    for parent in value.names.ancestors(value.node):
        if isinstance(parent, ast.IfExp) and child is not parent.test:
            if ast.unparse(parent.test) == (evaluates if child is parent.body else trains):
                return True
        child = parent
    return False


def _sampler(facts: Facts, around: Names, values: frozenset[Value], steps: int = 0) -> str:
    """As `share`, for the values of a sampler; around: the file of the loader that it is for."""
    for value in sorted(values, key=_place):  # always the same one of several
        if value.name in words.SAMPLERS:
            return "DistributedSampler"
        if draws_share(facts, value):
            return "weighted draws of its own"
        call = value.node
        if value.name == BATCH_SAMPLER and isinstance(call, ast.Call) and call.args and steps < MAX_STEPS:
            inner = _sampler(facts, around, facts.flow.values(value.names, call.args[0]), steps + 1)
            if inner:
                return inner
        if value.kind == "object" and words.SAMPLERS & facts.flow.bases(value):
            return "the project's own DistributedSampler"
        if value.kind == "object" and _knows_rank(facts, value):
            return "a sampler that uses its rank"
        if value.kind == "object" and steps < MAX_STEPS and _given_sampler(facts, around, value, steps):
            return "the project's own sampler around a DistributedSampler"
        if value.kind == "made" and isinstance(call, ast.Call) and _passes_rank(facts, value.names, call):
            return "a sampler that is given its rank"
    return ""


def _place(value: Value) -> tuple[str, int, int]:
    node = value.node
    return str(value.names.source.path), getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _knows_rank(facts: Facts, value: Value) -> bool:
    """Whether a project class asks for its rank, or is given one."""
    return isinstance(value.node, ast.ClassDef) and rank_kinds(facts).inside(value.names, value.node)


def _passes_rank(facts: Facts, names: Names, call: ast.Call) -> bool:
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any("rank" in rank_kinds(facts).of(names, argument) for argument in given)


def _given_sampler(facts: Facts, around: Names, value: Value, steps: int) -> bool:
    """Whether a program of the loader's file gives a class of the project a sharding sampler."""
    programs = programs_with(facts, around)
    return any(
        _sampler(facts, around, facts.flow.values(names, argument), steps + 1)
        for names, argument in _arguments(facts, value)
        if any(names in program.files for program in programs)
    )


def picked_by_rank(facts: Facts, loader: Loader) -> bool:
    """Whether the rank picks the loader's data: as an index, in a slice, or where a range begins."""
    return ranks_take_turns(facts, loader.names, loader.node) or any(
        _picks(facts, names, argument)
        for value in facts.flow.values(loader.names, loader.dataset)
        for names, argument in _arguments(facts, value)
    )


def _picks(facts: Facts, names: Names, node: ast.expr) -> bool:
    written = [node]
    if isinstance(node, ast.Name):
        bindings = names.bindings(node.id, node)
        written = [b.value for b in bindings if b.kind == "assign" and b.value is not None and not b.path]
    for part in (part for expression in written for part in names.walk(expression)):
        chosen: list[ast.expr] = []
        if isinstance(part, ast.Subscript):
            chosen = (
                [part.slice.lower] if isinstance(part.slice, ast.Slice) and part.slice.lower else [part.slice]
            )
        elif isinstance(part, ast.Call) and getattr(part.func, "id", "") == "range":
            chosen = part.args[:1]
        if any(rank_kinds(facts).of(names, expression) == {"rank"} for expression in chosen):
            return True
    return False


def _arguments(facts: Facts, value: Value) -> Iterator[tuple[Names, ast.expr]]:
    """What a library's call, or every call of a project class, was given."""
    if value.kind == "made" and isinstance(value.node, ast.Call):
        calls = [(value.names, value.node)]
    elif value.kind == "object":
        made = value.names.scopes[value.node].names.get("__init__", ())
        calls = [
            site
            for binding in made
            if isinstance(binding.node, FUNCTIONS)
            for site in facts.flow.call_sites(value.names, binding.node)
        ]
    else:
        calls = []
    for names, call in calls:
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            yield names, argument


def epoch_calls(facts: Facts, loader: Loader) -> list[tuple[Names, ast.Call]]:
    """The set_epoch calls on a loader's sampler or data set, or on what hvd.distribute made of the loader."""
    own = (
        facts.flow.values(loader.names, loader.sampler)
        | facts.flow.values(loader.names, loader.batch_sampler)
        | facts.flow.values(loader.names, loader.dataset)
        | {loader.value}
    )
    for value in list(own):
        if value.name == BATCH_SAMPLER and isinstance(value.node, ast.Call) and value.node.args:
            own |= facts.flow.values(value.names, value.node.args[0])
    found = []
    for names, call, receiver in facts.methods("set_epoch"):
        if any(_leads_to(facts, names, meant, own) for meant in _meant(names, receiver)):
            found.append((names, call))
    return found


def _leads_to(facts: Facts, names: Names, expression: ast.expr, own: frozenset[Value]) -> bool:
    """`loader.sampler` and `loader.batch_sampler.sampler` lead to a loader."""
    while isinstance(expression, ast.Attribute) and not facts.flow.values(names, expression) & own:
        expression = expression.value
    values = facts.flow.unwrap(facts.flow.values(names, expression))
    return bool(values & own) or _same_class(values, own)


def _meant(names: Names, node: ast.expr) -> Iterator[ast.expr]:
    """An expression, and what a variable was assigned: `sampler = loader.sampler if plain else other`."""
    yield node
    bindings = names.bindings(node.id, node) if isinstance(node, ast.Name) else []
    for binding in bindings:
        if binding.kind == "assign" and binding.value is not None and not binding.path:
            value = binding.value
            yield from (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)


def in_order(facts: Facts, loader: Loader) -> bool:
    """Whether the loader's samples come in one order for ever: it does not shuffle, nor does its sampler."""
    if loader.value.name in words.LIBRARY_LOADERS:
        # timm's asks for set_epoch where it shuffles; the others know their epochs.
        shuffles = given(loader.node, 3, "is_training") if loader.value.name.startswith("timm.") else None
        return not is_on(shuffles)
    samplers = [
        value
        for expression in (loader.sampler, loader.batch_sampler)
        for value in facts.flow.values(loader.names, expression)
        if value.name in words.SAMPLERS and isinstance(value.node, ast.Call)
    ]
    if samplers:
        return all(_keeps_order(facts, value) for value in samplers)
    unpacked = any(keyword.arg is None for keyword in loader.node.keywords)
    told = loader.shuffle
    off = told is None or not is_on(told) or _is_false(facts, loader.names, told)
    return off and loader.sampler is None and loader.batch_sampler is None and not unpacked


def _keeps_order(facts: Facts, sampler: Value) -> bool:
    """Whether a sampler of a library, one of several that a loader may get, does not shuffle."""
    call = sampler.node
    told = keywords(facts.flow, sampler.names, call).get("shuffle") if isinstance(call, ast.Call) else None
    off = told is not None and _is_false(facts, sampler.names, told)
    return off or sampler.name == words.ORDERED_SAMPLER


def _is_false(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether an expression is False and nothing else."""
    return may_only_be(facts, names, node, lambda value: is_constant(value.node, False))


def orders_itself(facts: Facts, loader: Loader) -> bool:
    """Whether a class of the project orders the samples, and has no set_epoch.

    Its sampler is none of PyTorch's for several processes; a class that makes batches is given no sampler.
    """
    samplers = facts.flow.values(loader.names, loader.sampler)
    if samplers and all(draws_share(facts, value) for value in samplers):
        return True
    own = bool(samplers) and all(value.kind == "object" for value in samplers)
    if own and not any(facts.flow.bases(value) & set(words.SAMPLERS) for value in samplers):
        return not any(facts.flow.methods(value, "set_epoch") for value in samplers)
    batches = facts.flow.values(loader.names, loader.batch_sampler)
    owners = [owner for value in batches for _, owner in facts.flow.classes(value) if value.kind == "object"]
    return bool(owners) and not any(
        "sampler" in getattr(part, "arg", "") or getattr(part, "name", "") == "set_epoch"
        for owner in owners
        for part in ast.walk(owner)
        if isinstance(part, (ast.arg, ast.FunctionDef))
    )


def _same_class(left: frozenset[Value], right: frozenset[Value]) -> bool:
    classes = {value.node for value in left if value.kind == "object"}
    return any(value.node in classes for value in right if value.kind == "object")


def is_sharded(facts: Facts, loader: Loader) -> bool:
    """Whether each rank gets its own share of the loader's data."""
    return bool(share(facts, loader))
