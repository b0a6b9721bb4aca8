"""Loops: known elements one by one; else one turn, and a second one with what the first one left."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Callable, Union

from hvdkit.job.attributes import class_of, lineage
from hvdkit.job.columns import RANKS, Value, alike, columns, lift
from hvdkit.job.containers import ITEMS, KEYS, counted, elements, held, make_tuple, new, set_item
from hvdkit.job.functions import run_generator
from hvdkit.job.machine import Machine
from hvdkit.job.names import assign
from hvdkit.job.processes import numbered
from hvdkit.job.record import Pass, is_sampler
from hvdkit.job.special import iterated, run_special, truth_of
from hvdkit.job.store import Frame, Key
from hvdkit.job.terms import Term, Terms
from hvdkit.job.training import GIVEN, epoch_of, is_loader, share_of

For = Union[ast.For, ast.AsyncFor]
BROKE, SKIPPED = ":broke", ":skipped"
Turn = Callable[[Value], None]


def run_for(machine: Machine, node: For) -> None:
    """`for target in iterable:`"""
    iterable = machine.evaluate(node.iter)

    def turn(value: Value) -> None:
        assign(machine, node.target, value)
        machine.execute(node.body)

    _loop(machine, node, lambda body: run_over(machine, node, iterable, body), turn)
    if node.orelse:
        machine.execute(node.orelse)


def run_while(machine: Machine, node: ast.While) -> None:
    """`while test:`"""

    def turn(value: Value) -> None:
        test = truth_of(machine, machine.evaluate(node.test), node.test)
        left = (machine.frame, (BROKE, node))
        machine.fork(test, lambda: machine.execute(node.body), lambda: machine.jump(left))

    _loop(machine, node, lambda body: _twice(machine, node, machine.terms.none, body), turn)
    if node.orelse:
        machine.execute(node.orelse)


def leave_loop(machine: Machine, node: ast.Break | ast.Continue) -> None:
    """`break`, `continue`."""
    kind = BROKE if isinstance(node, ast.Break) else SKIPPED
    key = next((key for key in reversed(machine.frame.jumps) if _is_of(key, kind)), None)
    if key is not None:
        machine.jump(key)


def _is_of(key: Key, kind: str) -> bool:
    return isinstance(key[1], tuple) and key[1][0] == kind


def _loop(machine: Machine, node: ast.stmt, iterate: Callable[[Turn], None], turn: Turn) -> None:
    """Run the turns of a loop. A break ends it, and a continue a turn, for the processes that come there."""
    frame = machine.frame
    broke, skipped = (frame, (BROKE, node)), (frame, (SKIPPED, node))
    false = machine.terms.false
    machine.store.put(broke, false)
    gate = machine.gate
    frame.jumps += [broke, skipped]

    def one(value: Value) -> None:
        machine.store.put(skipped, false)
        if frame.jumped:
            machine.close_gate(frame)
        if machine.is_running:
            turn(value)

    iterate(one)
    frame.jumps = frame.jumps[:-2]
    machine.gate = gate
    if frame.jumped:
        machine.close_gate(frame)


def run_over(machine: Machine, node: ast.AST, iterable: Value, body: Turn) -> None:
    """Run a body for what is iterated over."""
    iterable = iterated(machine, iterable, node)
    known = elements(machine, iterable)
    if known is not None:
        one_by_one(machine, known, body)
        return
    if isinstance(iterable, Term) and iterable.kind == "generator":
        run_generator(machine, iterable, node, body)
        return
    begins(machine, node, iterable)
    with _turns(machine, node, iterable):
        _twice(machine, node, element(machine, node, iterable), body)


def one_by_one(machine: Machine, known: list[tuple[Value, Value]], body: Turn) -> list[Value]:
    """Run a body for each element, in the processes that have it; what it makes is of this turn.

    Returns: the conditions under which the elements are there for which it was run.
    """
    path, context, ran = machine.path, machine.context, []
    for place, (value, there) in enumerate(known):
        machine.context = machine.terms.make("within", place, context)
        machine.path = lift(machine.terms.both, path, there)
        if machine.is_running:
            body(value)
            ran.append(there)
        path = lift(_back, path, there, machine.path, machine.terms.false)
    machine.path, machine.context = path, context
    return ran


@contextmanager
def _turns(machine: Machine, node: ast.AST, iterable: Value) -> Iterator[None]:
    """Run the turns of a loop: each rank its own number of them, where that is known to differ.

    A collective in a loop of which this is not known is recorded, also if only some ranks come to the loop:
    the others may meet them in a different one.
    """
    over = held(machine, iterable)
    path, gate, met = machine.path, machine.gate, len(machine.record.met)
    if isinstance(over, Term) and alike(machine.path):
        yield
        return
    counts = {counted(columns(over)[rank]) for rank in RANKS}
    if None in counts:
        yield
        if len(machine.record.met) > met:
            machine.record.uncounted.append(machine.place(node))
        return
    if len(counts) > 1:
        some = lift(lambda term: _some_turns(machine.terms, node, counted(term)), over)
        machine.path, machine.gate = (lift(machine.terms.both, each, some) for each in (path, gate))
    yield
    machine.path, machine.gate = path, gate


def _some_turns(terms: Terms, node: ast.AST, count: int | None) -> Term:
    """The condition of one of so many turns."""
    return terms.false if count == 0 else terms.make("turns", node, terms.const(count))


def _back(path: Term, there: Term, now: Term, false: Term) -> Term:
    """The path behind a turn: as in front of it, unless the turn ended the process."""
    return now if now is false and there is not false else path


def begins(machine: Machine, node: ast.AST, iterable: Value) -> None:
    """Record that a pass over a loader begins."""
    for term in {columns(iterable)[rank] for rank in RANKS}:
        for inner in _wrapped(term):
            if is_loader(inner):
                given = _given_by(machine, inner, node)
                if given is not None:
                    machine.write((inner, GIVEN), given)
                epoch, told = epoch_of(machine, inner)
                share = share_of(machine, inner)
                found = Pass(
                    machine.place(node), inner, iterable, share, machine.loops, epoch, told, machine.active
                )
                machine.record.passes.append(found)


def _given_by(machine: Machine, loader: Term, site: ast.AST) -> Value | None:
    """What the program's own sampler, or a data set that is iterated over, gives a loader."""
    none = machine.terms.none
    dataset = machine.read((loader, "dataset")) or none
    samplers = [machine.read((loader, name)) or none for name in ("sampler", "batch_sampler")]
    asked = [each for each in ([dataset] if _is_iterable(dataset) else samplers) if isinstance(each, Term)]
    given = (run_special(machine, source, ("__iter__",), (), site) for source in asked)
    value = next((each for each in given if each is not None), None)
    if value is None:
        return None
    if not isinstance(value, Term) or value.kind != "generator":
        return lift(lambda *both: machine.terms.make("given", *both), dataset, held(machine, value))
    found: list[Value] = []
    run_generator(machine, value, site, lambda item: found.extend((item, machine.active)))
    return lift(lambda *all_of: machine.terms.make("given", *all_of), dataset, *found)


def _is_iterable(dataset: Value) -> bool:
    """Whether a data set of the program has no numbers of samples, and is iterated over instead."""
    if not isinstance(dataset, Term) or dataset.kind != "object":
        return False
    return any(str(base.parts[0]).endswith("IterableDataset") for base in lineage(class_of(dataset)))


def _wrapped(term: Term) -> list[Term]:
    """What is iterated over where something wraps it: `enumerate(loader)`, `tqdm(loader)`."""
    found = [term]
    for each in found:
        if each.kind in ("enumerate", "zip", "call", "each", "item"):
            found += [part for part in each.inner if part not in found]
    return found


def element(machine: Machine, node: ast.AST, iterable: Value) -> Value:
    """An element of what is iterated over, in some turn."""
    machine.record.places.setdefault(node, machine.frame.module)
    return lift(
        lambda term, process: _element(machine, node, term, process),
        held(machine, iterable),
        numbered(machine),
    )


def _element(machine: Machine, node: ast.AST, term: Term, process: Term) -> Term:
    terms = machine.terms
    if term.kind == "zip":
        return terms.make("tuple", *(_element(machine, node, part, process) for part in term.inner))
    if term.kind == "enumerate":
        return terms.make("tuple", terms.make("each", node), _element(machine, node, term.inner[0], process))
    if is_sampler(term):
        return terms.make("each", node, term, process)
    place = process.parts[0]
    assert isinstance(place, int)
    shares = [columns(share_of(machine, each))[place] for each in _wrapped(term) if is_loader(each)]
    return terms.make("each", node, term, *shares)


def _twice(machine: Machine, node: ast.AST, value: Value, body: Turn) -> None:
    """One turn, and where it changed what was there before, one more with what it left."""
    store, loops = machine.store, machine.loops
    machine.loops = (*loops, node)
    before = store.begin()
    body(value)
    written = store.keep(before)
    changed = {key: old for key, old in written.items() if old is not None and _widens(key)}
    for key, old in changed.items():
        now = store.values[key]
        if now is not old:
            store.put(key, lift(lambda was, left, key=key: _turn(machine, node, key, was, left), old, now))
    if changed and machine.is_running:
        began = {key: store.values[key] for key in changed}
        body(value)
        for key, before_it in began.items():
            for term, left in zip(columns(before_it), columns(store.values[key])):
                machine.record.steps[term] = left
    machine.loops = loops


def _widens(key: Key) -> bool:
    """Whether a key is of the program: not whether a call returned or a loop was left."""
    return not isinstance(key[1], tuple) and not (isinstance(key[0], Frame) and str(key[1]).startswith(":"))


def _turn(machine: Machine, node: ast.AST, key: Key, was: Term, left: Term) -> Term:
    """What is there in some later turn."""
    if was is left:
        return was
    return machine.terms.make("turn", node, key, was, left)


def comprehend(machine: Machine, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> Value:
    """A comprehension: its elements, where it is known over what it runs."""
    outer = machine.frame
    made = new(machine, "dict", node) if isinstance(node, ast.DictComp) else None
    if made is not None:
        machine.write((made, KEYS), machine.terms.make("tuple"))
    run = _Comprehension(machine, node, Frame(outer.module, outer, node, machine.gate), made)
    known = run.clauses(0)
    machine.frame = outer
    if made is not None:
        if not known:
            values = machine.read((made, KEYS)) or machine.terms.none
            machine.write((made, KEYS), machine.site("items of", node, *_all_values(machine, made, values)))
        return made
    listed = new(machine, "set" if isinstance(node, ast.SetComp) else "list", node)
    machine.write((listed, ITEMS), make_tuple(machine, run.found))
    if not known:
        machine.write((listed, ITEMS), machine.site("items of", node, *run.found, *run.tests))
    return listed


def _all_values(machine: Machine, made: Term, keys: Value) -> list[Value]:
    """The values of a dictionary, as far as they are known."""
    held_by = [machine.read((made, key)) for key in (keys.inner if isinstance(keys, Term) else ())]
    return [value for value in held_by if value is not None]


class _Comprehension:
    """A comprehension that is run. found: its elements. tests: those that decide which it has."""

    def __init__(self, machine: Machine, node: ast.expr, frame: Frame, made: Term | None) -> None:
        self.machine, self.node, self.frame, self.made = machine, node, frame, made
        self.found: list[Value] = []
        self.tests: list[Value] = []

    def clauses(self, place: int) -> bool:
        """Run the clauses from one on; whether all elements are known."""
        machine, node = self.machine, self.node
        generators = node.generators  # type: ignore[attr-defined]
        if place == len(generators):
            self._element()
            return True
        clause = generators[place]
        iterable = iterated(machine, machine.evaluate(clause.iter), node)
        machine.frame = self.frame
        known = elements(machine, iterable)
        seen = [known is not None and all(there is machine.terms.true for _, there in known)]

        def turn(value: Value) -> None:
            assign(machine, clause.target, value)
            test: Value = machine.terms.true
            for each in clause.ifs:
                found = truth_of(machine, machine.evaluate(each), each)
                test = lift(machine.terms.both, test, machine.condition(found))
            inner = self._where(test, lambda: self.clauses(place + 1))
            seen.append(inner and test in (machine.terms.true, machine.terms.false))

        if known is not None:
            one_by_one(machine, known, turn)
            return all(seen)
        begins(machine, node, iterable)
        with _turns(machine, node, iterable):
            turn(element(machine, node, iterable))
        return False

    def _where(self, test: Value, run: Callable[[], bool]) -> bool:
        """Run something where a test holds; whether all that it found is known."""
        found: list[bool] = []
        if test is not self.machine.terms.true:
            self.tests.append(test)
        self.machine.fork(test, lambda: found.append(run()), lambda: None)
        return all(found)

    def _element(self) -> None:
        machine, node = self.machine, self.node
        if isinstance(node, ast.DictComp):
            assert self.made is not None
            set_item(machine, self.made, machine.evaluate(node.key), machine.evaluate(node.value))
        else:
            self.found.append(machine.evaluate(node.elt))  # type: ignore[attr-defined]
