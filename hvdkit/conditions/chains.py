"""Chains: what a record says of a condition, step by step, from what was done back to what decided it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from hvdkit.conditions.objection import is_own, ranks_with
from hvdkit.job.columns import RANKS, Value, alike, columns
from hvdkit.job.record import Met, Place, Record, Tested
from hvdkit.job.terms import Term, within

# What a term of this kind says of its place in the code.
WORDS = {
    "drawn": "drawn from a random state",
    "after": "a draw that moves the random state on",
    "call": "what this gives",
    "agreed": "what the ranks find together",
    "each": "one element of this",
    "turn": "another value in each turn of this loop",
    "fails": "where this may fail",
    "moved": "weights that are written in place",
    "made": "made here",
    "object": "made here",
    "option": "an option of the command line",
    "passed": "whether the command line has an option",
    "items of": "the elements of this",
}


class Step(NamedTuple):
    """One step of a chain. depth: how many steps it is behind what was done."""

    place: Place
    text: str
    depth: int


def of_writers(record: Record) -> Iterator[Step]:
    """Who writes each file, by which tests, and where its name comes from."""
    for each in record.written:
        yield Step(each.place, f"{_who(each.active)} this file", 0)
        yield from _tests(each.under)
        yield from _origins(record, each.path, "its name")


def of_shares(record: Record) -> Iterator[Step]:
    """What loaders are made of, what each pass loads, and the orders and choices that are drawn."""
    for loaded in record.loaded:
        divides = "a DistributedSampler divides" if loaded.divides else "no DistributedSampler divides"
        yield Step(loaded.place, f"{divides} what this loads", 0)
        for name, value in loaded.numbers.items():
            if name in ("rank", "num_replicas", "seed"):
                yield from _origins(record, value, name)
    for each in record.passes:
        yield Step(each.place, "a pass over a loader", 0)
        yield from _origins(record, each.share, "what each rank loads")
    for drawn in record.drawn:
        if drawn.orders:
            yield Step(drawn.place, f"{_who(drawn.active, 'draw')} an order or a choice of samples", 0)
            yield from _origins(record, drawn.state, "the random state")


def of_orders(record: Record) -> Iterator[Step]:
    """What the order of each pass is drawn from."""
    for each in record.passes:
        yield Step(each.place, "a pass over a loader", 0)
        if each.told is not None:
            yield Step(each.told, "the epoch is set here", 1)
        if each.epoch is not None:
            yield from _origins(record, each.epoch, "what its order is drawn from")


def of_weights(record: Record) -> Iterator[Step]:
    """Where each part of what is trained was made, what wrote it last, and where its weights come from."""
    for each in record.weights:
        yield Step(each.made, "a part of what is trained is made here", 0)
        if each.changed is not None:
            yield Step(each.changed, "its weights are written here", 1)
        yield from _origins(record, each.value, "its weights")


def of_meetings(record: Record) -> Iterator[Step]:
    """Which ranks call each collective, and the tests that decide it."""
    for each in record.met:
        yield from _met(each, "come", f"to {each.name}")


def of_averages(record: Record) -> Iterator[Step]:
    """Where gradients are averaged."""
    for each in record.met:
        if each.name == "gradients":
            yield from _met(each, "average", "gradients here")


def of_settings(record: Record) -> Iterator[Step]:
    """What optimizers and schedulers are given."""
    for each in record.settings:
        yield Step(each.place, f"{_who(each.active, 'set')} this", 0)
        yield from _origins(record, each.value, "the value")


def _met(each: Met, does: str, what: str) -> Iterator[Step]:
    yield Step(each.place, f"{_who(each.active, does)} {what}", 0)
    yield from _tests(each.under)


def _tests(under: tuple[Tested, ...]) -> Iterator[Step]:
    for each in under:
        yield Step(each.place, f"this test is {_by_rank(each.value)}", 1)


def _who(active: Value, does: str = "write") -> str:
    """`rank 0 writes`, `ranks 1, 2, 3 may write`."""
    ranks = ranks_with(active)
    terms = [columns(active)[rank] for rank in ranks]
    sure = all(term.kind == "const" for term in terms)
    if not ranks:
        return f"no rank {does}s"
    numbers = ", ".join(str(rank - RANKS[0]) for rank in ranks)
    some = f"rank {numbers}" if len(ranks) == 1 else f"ranks {numbers}"
    name = "all ranks" if len(ranks) == len(RANKS) else some
    if not sure:
        return f"{name} may {does}"
    return f"{name} {does}s" if len(ranks) == 1 else f"{name} {does}"


def _by_rank(value: Value) -> str:
    """What each rank has."""
    terms = [columns(value)[rank] for rank in RANKS]
    if alike(value):
        return f"{_shown(terms[0])} on all ranks"
    if all(term.kind == "const" for term in terms):
        return f"{', '.join(_shown(term) for term in terms)} on ranks 0 to {len(RANKS) - 1}"
    return "not the same on all ranks"


def _shown(term: Term) -> str:
    return repr(term.parts[0]) if term.kind == "const" else "the same"


def _origins(record: Record, value: Value, what: str) -> Iterator[Step]:
    """Where a value comes from: what it is on each rank, and each place of the code in its terms once."""
    seen: set[ast.AST] = set()
    for term in dict.fromkeys(part for each in columns(value)[RANKS[0] :] for part in within(each)):
        site = term.parts[0] if term.parts else None
        module = record.places.get(site) if isinstance(site, ast.AST) else None
        if module is None or not isinstance(site, ast.AST) or site in seen:
            continue
        said = f"{term.kind}, each rank's own" if is_own(term) else WORDS.get(term.kind, term.kind)
        if seen:
            yield Step((module, site), said, 2)
        else:
            yield Step((module, site), f"{what}: {_by_rank(value)}; {said}", 1)
        seen.add(site)
