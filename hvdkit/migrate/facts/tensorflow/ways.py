"""The ways that a tf.data dataset has come, from each source to an expression, joined where they meet.

`if args.flip: data = data.map(flip)` doubles the ways to what is below it, and twenty such options make a
million. So ways from one source that differ in nothing but operations on each element are joined into one at
every expression that they meet at. An assignment that leads back to itself ends in the same way.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial, reduce
from typing import Callable

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.values.arguments import passed
from hvdkit.migrate.values.binding_order import reaching, remaining
from hvdkit.migrate.values.memo import Memo
from hvdkit.migrate.values.store_order import last_stored
from hvdkit.source.index.names import FUNCTIONS, Binding, FunctionNode, Names

MAX_WAYS = 64  # to one expression, that differ in more than what is done to each element
# Operations of which it matters whether every way passes them, and in which order.
TELLING = words.ORDERING | words.BATCHING | {"shard", "apply", "take"}
DISTRIBUTES = ("experimental_distribute_dataset",)
Operation = tuple[Names, ast.Call]
Lead = Callable[[], Iterable["Chain"]]


@dataclass(frozen=True)
class Point:
    """An expression whose value is the dataset, after `before` operations of its chain."""

    names: Names
    node: ast.expr
    before: int


@dataclass(frozen=True)
class Chain:
    """The ways from a source to where a dataset is consumed that pass the same telling operations.

    ops: the method calls on the way, first to last; those that are not telling are passed by some of the ways
    at least. points: the expressions that all of the ways pass. aside: those that only some pass.
    parameter: what the source is, where a caller gives it. lost: whether too many ways lead to the source to
    follow them further back.
    """

    source: Point
    ops: tuple[Operation, ...]
    points: tuple[Point, ...]
    aside: frozenset[ast.AST] = frozenset()
    parameter: ast.arg | None = None
    lost: bool = False

    def named(self, *wanted: str) -> list[int]:
        """Positions of the operations of some names."""
        return [i for i, (_, op) in enumerate(self.ops) if operation(op) in wanted]

    @cached_property
    def passed(self) -> frozenset[ast.AST]:
        """Every expression that the dataset may pass."""
        return self.aside | {point.node for point in self.points}

    @cached_property
    def telling(self) -> tuple[Operation, ...]:
        """The operations that all of the ways pass, in this order."""
        return tuple(run[-1] for run in self.runs[:-1])

    @cached_property
    def runs(self) -> list[list[Operation]]:
        """The operations up to each telling one, with it, and those after the last."""
        runs: list[list[Operation]] = [[]]
        for op in self.ops:
            runs[-1].append(op)
            if operation(op[1]) in TELLING:
                runs.append([])
        return runs


def operation(call: ast.Call) -> str:
    """The name of the method that a call calls."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


class Ways:
    """The ways to the expressions of a project, each expression asked about once."""

    def __init__(self, facts: Facts) -> None:
        self._flow = facts.flow
        self._memo: Memo[Chain] = Memo(_joined)

    def to(self, names: Names, node: ast.expr) -> tuple[Chain, ...]:
        """The ways from every source to an expression, whoever calls the function that it is in."""
        return tuple(sorted(self._memo.ask(("from callers", node), self._closed, names, node), key=_order))

    def _closed(self, names: Names, node: ast.expr) -> frozenset[Chain]:
        ways = self._inside(names, node)
        given = [(way, place) for way in ways for place in self._given(way)]
        found = [way for way in ways if way.parameter is None]
        for way, (where, argument) in given:
            before = self._memo.ask(("from callers", argument), self._closed, where, argument)
            found += (_continued(each, way) for each in before)
        return _joined(found if given or found else (replace(way, parameter=None) for way in ways))

    def _given(self, way: Chain) -> Iterator[tuple[Names, ast.expr]]:
        """What the calls of its function give for the parameter that a way begins at."""
        parameter, names = way.parameter, way.source.names
        function = names.parents[names.parents[parameter]] if parameter is not None else None
        if parameter is not None and isinstance(function, FUNCTIONS):
            for where, call in self._flow.call_sites(names, function):
                given = passed(names, function, where, call, parameter.arg)
                if given is not None:
                    yield where, given

    def _inside(self, names: Names, node: ast.expr) -> frozenset[Chain]:
        """The ways to an expression from the sources and the parameters of its own function."""
        return self._memo.ask(node, self._ways, names, node)

    def _ways(self, names: Names, node: ast.expr) -> frozenset[Chain]:
        here = Point(names, node, 0)
        return _joined(_passing(chain, here) for chain in self._before(here))

    def _before(self, here: Point) -> Iterator[Chain]:
        names, node = here.names, here.node
        begins = Chain(here, (), ())
        if isinstance(node, ast.Call):
            yield from self._call(begins, names, node)
        elif isinstance(node, (ast.Name, ast.Attribute)):
            bindings = self._bindings(names, node)
            parameters = [each.node for where, each in bindings if _is_parameter(where, each)]
            leads = [lead for each in bindings for lead in self._leads(*each)]
            yield from (replace(begins, parameter=arg) for arg in parameters if isinstance(arg, ast.arg))
            if leads:  # asked once for all uses that read the same
                yield from self._memo.ask(tuple(each for _, each in bindings), self._union, leads)
            elif not parameters:
                yield begins
        else:
            yield begins

    def _call(self, begins: Chain, names: Names, node: ast.Call) -> Iterator[Chain]:
        function = node.func
        if isinstance(function, ast.Attribute) and not self._flow.qualified(names, function):
            if function.attr in words.CHAIN:
                then = Chain(begins.source, ((names, node),), ())
                yield from (_continued(way, then) for way in self._inside(names, function.value))
                return
            if function.attr in DISTRIBUTES and node.args:
                yield from self._inside(names, node.args[0])
                return
        results = [
            (where, called, result)
            for where, called in self._flow.functions(names, node)
            for result in where.returns.get(called, ())
        ]
        for where, called, result in results:
            yield from self._returned(names, node, where, called, result)
        if not results:
            yield begins

    def _returned(
        self, names: Names, call: ast.Call, where: Names, called: FunctionNode, result: ast.expr
    ) -> list[Chain]:
        """The ways to what a call returns: those that begin at a parameter continue at what it is given."""
        ways = self._inside(where, result)
        own = [way for way in ways if way.parameter and where.parents[where.parents[way.parameter]] is called]
        found = list(ways.difference(own))
        given = False
        for way in own:
            argument = passed(where, called, names, call, way.parameter.arg) if way.parameter else None
            if argument is not None:
                given = True
                found += (_continued(before, way) for before in self._inside(names, argument))
        return found if given or found else [replace(way, parameter=None) for way in own]

    def _bindings(self, names: Names, node: ast.Name | ast.Attribute) -> list[tuple[Names, Binding]]:
        """Where what a variable or an attribute holds may be assigned."""
        if isinstance(node, ast.Name):
            found = [(names, binding) for binding in reaching(names, node.id, node)]
            return remaining(names, node, found)
        return last_stored(self._flow, names, node, self._flow.stored(names, node))

    def _union(self, leads: Iterable[Lead]) -> frozenset[Chain]:
        return _joined(chain for lead in leads for chain in lead())

    def _leads(self, names: Names, binding: Binding) -> Iterator[Lead]:
        """What an assignment leads back to."""
        value, path = binding.value, binding.path
        if binding.kind != "assign" or value is None:
            return
        if not path:
            yield partial(self._inside, names, value)
        elif isinstance(value, (ast.Tuple, ast.List)) and len(path) == 1:
            if path[0] < len(value.elts):
                yield partial(self._inside, names, value.elts[path[0]])
        elif isinstance(value, ast.Call) and len(path) == 1:
            for where, called in self._flow.functions(names, value):
                for result in where.returns.get(called, ()):
                    if isinstance(result, ast.Tuple) and -1 < path[0] < len(result.elts):
                        yield partial(self._returned, names, value, where, called, result.elts[path[0]])


def _is_parameter(names: Names, binding: Binding) -> bool:
    return binding.kind == "param" and isinstance(names.parents[names.parents[binding.node]], FUNCTIONS)


def _passing(chain: Chain, point: Point) -> Chain:
    """A way, gone on to one more expression."""
    if point.node in chain.passed:
        return chain
    return replace(chain, points=(*chain.points, replace(point, before=len(chain.ops))))


def _continued(first: Chain, then: Chain) -> Chain:
    """A way and what comes after it; what it has passed already, in a loop, changes nothing."""
    ops, known = list(first.ops), {call for _, call in first.ops}
    ends = [len(ops)]
    for names, call in then.ops:
        if call not in known:
            known.add(call)
            ops.append((names, call))
        ends.append(len(ops))
    later = (
        replace(point, before=ends[point.before]) for point in then.points if point.node not in first.passed
    )
    points = (*first.points, *later)
    aside = (first.aside | then.aside) - {point.node for point in points}
    return replace(first, ops=tuple(ops), points=points, aside=aside, lost=first.lost or then.lost)


def _order(chain: Chain) -> tuple[object, ...]:
    """What ways are sorted by, so that no answer depends on addresses in memory."""
    nodes = [(names, node) for names, node in chain.ops]
    places = [_place(names, node) for names, node in [(chain.source.names, chain.source.node), *nodes]]
    return len(places), places, len(chain.points), [_place(point.names, point.node) for point in chain.points]


def _place(names: Names, node: ast.expr) -> tuple[str, int, int, int]:
    return str(names.source.path), node.lineno, node.end_lineno or 0, node.end_col_offset or 0


def _joined(chains: Iterable[Chain]) -> frozenset[Chain]:
    """Ways to one expression, one for each source and each row of telling operations."""
    alike: dict[Hashable, set[Chain]] = defaultdict(set)
    for chain in chains:
        row = tuple(call for _, call in chain.telling)
        alike[(chain.source.node, chain.parameter, None if chain.lost else row)].add(chain)
    if len(alike) > MAX_WAYS:
        return frozenset([_lost([chain for group in alike.values() for chain in group])])
    return frozenset(reduce(_join, sorted(group, key=_order)) for group in alike.values())


def _lost(chains: Sequence[Chain]) -> Chain:
    """The one way that is left of too many: it begins where they meet."""
    last = max((chain.points[-1] for chain in chains), key=lambda point: _place(point.names, point.node))
    begin = replace(last, before=0)
    passed_ = frozenset().union(*(chain.passed for chain in chains))
    return Chain(begin, (), (begin,), passed_ - {last.node}, lost=True)


def _join(one: Chain, other: Chain) -> Chain:
    """Two ways that pass the same telling operations, as one."""
    if one == other:
        return one
    if one.lost:
        return replace(
            one, ops=(), points=one.points[:1], aside=(one.passed | other.passed) - {one.source.node}
        )
    ops = tuple(op for pair in zip(one.runs, other.runs) for op in _merged(*pair))
    at = {call: i for i, (_, call) in enumerate(ops)}
    ends = {point.node: point.before for point in other.points}
    points: list[Point] = []
    for point in (each for each in one.points if each.node in ends):
        before = {at[call] for _, call in (*one.ops[: point.before], *other.ops[: ends[point.node]])}
        if max(before, default=-1) == len(before) - 1:
            points.append(replace(point, before=len(before)))
    aside = (one.passed | other.passed) - {point.node for point in points}
    return replace(one, ops=ops, points=tuple(points), aside=aside)


def _merged(one: list[Operation], other: list[Operation]) -> Iterator[Operation]:
    """The operations of both, each once and in the order of both."""
    known, where, done = set(one), {op: i for i, op in enumerate(other)}, 0
    for op in one:
        at = where.get(op, -1)
        yield from (each for each in other[done:at] if each not in known)
        done = max(done, at + 1)
        yield op
    yield from (each for each in other[done:] if each not in known)
