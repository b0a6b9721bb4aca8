"""The record of a run: what each process drew, read, sent, computed and wrote, in order."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field

from hvdkit.dataclass import dataclass
from hvdkit.job.columns import Value, columns
from hvdkit.job.store import Module
from hvdkit.job.terms import Term, within

Place = tuple[Module, ast.AST]
Way = tuple[Value, Value]  # the path and the gate of each process


@dataclass(frozen=True)
class Tested:
    """A test of which ranks had different results, on a way that was taken. value: what was tested."""

    place: Place
    value: Value


@dataclass(frozen=True)
class Written:
    """A file that is written. active: the condition under which each process writes it.

    under: the tests that let only some ranks come here, outermost first.
    """

    place: Place
    path: Value
    active: Value
    under: tuple[Tested, ...] = ()


@dataclass(frozen=True)
class Drawn:
    """What is drawn. state: what it is drawn from.

    orders: whether it is an order, or a choice of samples. splits: whether it divides data in parts.
    """

    place: Place
    value: Value
    state: Value
    active: Value
    orders: bool = False
    splits: bool = False


def is_sampler(value: Value | None) -> bool:
    """Whether a value is a DistributedSampler."""
    return isinstance(value, Term) and value.kind == "made" and value.parts[0] == "sampler"


@dataclass(frozen=True)
class Loaded:
    """What a loader loads from.

    terms: all that decides it, by rank. unsorted: of those of rank 0, what nothing sorts on the way to the
    loader. sampler: its sampler, if it has one. numbers: what that was given, by the name of the parameter.
    """

    place: Place
    loader: Term
    terms: tuple[frozenset[Term], ...]
    unsorted: frozenset[Term]
    sampler: Value
    numbers: dict[str, Value]

    @property
    def divides(self) -> bool:
        """Whether its sampler divides it among the ranks."""
        return is_sampler(self.sampler)


@dataclass(frozen=True)
class Weights:
    """Weights in a backward pass, or at the end of a training.

    made: where the part of the model was constructed. changed: what wrote them after that.
    """

    made: Place
    changed: Place | None
    value: Value


@dataclass(frozen=True)
class Pass:
    """One pass over a loader. loops: those around it, outermost first.

    over: what is iterated, which may wrap the loader. share: what tells apart what each process loads.
    epoch: what its order is drawn from: the argument of set_epoch, which was called at `told`, with the
    sampler's seed if it has one; None where it has no order that an epoch decides. active: as elsewhere.
    """

    place: Place
    loader: Term
    over: Value
    share: Value
    loops: tuple[ast.AST, ...]
    epoch: Value | None
    told: Place | None
    active: Value


@dataclass(frozen=True)
class Setting:
    """What an optimizer is given to go by: a rate, or the metric that a scheduler decides by.

    changes: whether processes that do not come here keep what they had; else they have no such optimizer.
    """

    place: Place
    value: Value
    active: Value
    changes: bool = False


@dataclass(frozen=True)
class Met:
    """A collective. active: the condition under which each process reaches it. under: as elsewhere."""

    place: Place
    name: str
    active: Value
    under: tuple[Tested, ...] = ()


@dataclass(frozen=True)
class Moved:
    """A move of a model whose optimizer averages, above a backward pass. active: as elsewhere."""

    place: Place
    active: Value


@dataclass(frozen=True)
class Stepped:
    """A step of an optimizer that averages nothing, with parameters that another one averages."""

    place: Place
    active: Value


@dataclass(frozen=True)
class Read:
    """A file that is read. active: the condition under which each process reads it."""

    place: Place
    path: Value
    active: Value


@dataclass(frozen=True)
class Unbound:
    """A name that is read where nothing is seen to have bound it. active: the condition of each process."""

    place: Place
    name: str
    active: Value


@dataclass(eq=False)
class Record:
    """What a run found. places: the file of a node in a term. trace: the collectives of each process."""

    written: list[Written] = field(default_factory=list)
    drawn: list[Drawn] = field(default_factory=list)
    weights: dict[Weights, None] = field(default_factory=dict)
    passes: list[Pass] = field(default_factory=list)
    settings: list[Setting] = field(default_factory=list)
    moved: list[Moved] = field(default_factory=list)
    stepped: list[Stepped] = field(default_factory=list)
    read: list[Read] = field(default_factory=list)
    met: list[Met] = field(default_factory=list)
    trained: list[Value] = field(default_factory=list)  # the losses of all backward passes
    handed: set[Term] = field(default_factory=set)  # what a call that no table has was given
    ran: set[ast.AST] = field(default_factory=set)  # the modules and functions whose code was run
    escaped: set[ast.AST] = field(default_factory=set)  # the functions that a library may call
    came: dict[ast.AST, list[Way]] = field(default_factory=dict)  # the ways to what is run
    loaded: list[Loaded] = field(default_factory=list)
    unbound: list[Unbound] = field(default_factory=list)
    zeros: list[Place] = field(default_factory=list)  # 1 in one process, 0 on each of several ranks
    by_xla: list[Place] = field(default_factory=list)  # collectives that XLA would compile
    places: dict[ast.AST, Module] = field(default_factory=dict)
    steps: dict[Term, Term] = field(default_factory=dict)  # what a turn of a loop makes of what it began with
    trace: Value | None = None
    uncounted: list[Place] = field(default_factory=list)  # loops whose ranks may meet in different numbers


def is_trained(record: Record, found: Pass) -> bool:
    """Whether a loss is computed of what a pass gives; of one by iter(), next() gives it elsewhere."""
    site = found.place[1]
    return any(
        found.loader in within(term)
        for term in trained_on(record)
        if term.parts[0] is site or isinstance(site, ast.Call)
    )


def is_followed(record: Record) -> bool:
    """Whether each loss of a training is computed of what a pass over a loader gives."""
    loaders = {each.loader for each in record.passes}
    return all(
        any(term.kind == "each" and not loaders.isdisjoint(within(term)) for term in within(column))
        for loss in record.trained
        for column in {*columns(loss)}
    )


def trained_on(record: Record) -> Iterator[Term]:
    """The elements, of a loop or of next(), of which the losses of a training are computed."""
    for loss in record.trained:
        for column in {*columns(loss)}:
            yield from (term for term in within(column) if term.kind == "each")
