"""The machine that runs a program on paper: who runs a statement, what is known and what is remembered.

What statements, expressions and calls do is in the modules that are named after them. The machine gets them
as tables, and knows none of them.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Callable, NamedTuple

from hvdkit.job.arguments import Arguments
from hvdkit.job.columns import PROCESSES, Split, Value, alike, columns, joined, lift
from hvdkit.job.knowledge import Knowledge
from hvdkit.job.record import Moved, Place, Record, Tested
from hvdkit.job.store import Frame, Key, Module
from hvdkit.job.terms import Term

Evaluate = Callable[["Machine", ast.expr], Value]
Execute = Callable[["Machine", ast.stmt], None]
Call = Callable[["Machine", Term, Arguments, ast.AST], Value]
CallAlike = Callable[["Machine", Split, Arguments, ast.AST], "Value | None"]
Find = Callable[[str, Module], "Module | None"]
RAISED = ":raised"
STEPS_OF_A_LINE = 25  # expressions that may be evaluated for each line, on average; most programs need five
TERMS_OF_A_LINE = 400  # terms that may be asked for in the same way; most programs need ten


class CannotFollow(Exception):
    """The program could not be run to its end. node: where the run stopped."""

    def __init__(self, node: ast.AST | None, reason: str) -> None:
        super().__init__(reason)
        self.node = node


class _Way(NamedTuple):
    """One of several ways that are run: what it wrote, the path at its end, and what it gave."""

    test: Term
    written: dict[Key, Value]
    ended: Value
    result: Value


class Machine(Knowledge):
    """One run."""

    def __init__(
        self,
        statements: Mapping[type, Execute],
        expressions: Mapping[type, Evaluate],
        calls: Mapping[str, Call],
        call_alike: CallAlike,
        find: Find,
    ) -> None:
        super().__init__()
        self.record = Record()
        self.context: Term = self.terms.make("start")
        self.loops: tuple[ast.AST, ...] = ()
        self.running: tuple[ast.AST, ...] = ()  # the functions that are being run, outermost first
        self.changed: dict[Term, Place] = {}  # what wrote weights last, after they were made
        self.told: dict[Term, Place] = {}  # where a sampler was given its epoch last
        self.losses: dict[Value, bool] = {}  # those of backward passes, and whether these average gradients
        self.trained: dict[Term, None] = {}  # what has weights and was used in a backward pass
        self.copies: dict[Term, None] = {}  # what was given weights after it was made
        self.moved: list[Moved] = []  # the models that were moved since the last backward pass
        self.given: set[Term] = set()  # what a library was given, and what was called that is not known
        self.options: set[str] = set()  # the names of all options that parsers have
        self.defaults: dict[str, Value] = {}  # what a parser's set_defaults() was given
        self.only_first: set[object] = set()  # the functions that rank 0 alone runs
        self.by_xla: set[object] = set()  # the functions that XLA compiles
        self.modules: dict[str, Module] = {}
        self.started: set[str] = set()  # the modules that were run
        self.risks = 0  # how many calls were made that may raise an error
        self.under: tuple[Tested, ...] = ()  # the tests that let only some ranks come here
        self.budget = 0
        self.catching: tuple[Key, ...] = ()  # which errors are caught in turns of loops, innermost last
        self.generators: dict[ast.AST, bool] = {}  # whether a function yields
        self.frame: Frame
        self._statements, self._expressions, self._calls = statements, expressions, calls
        self.call_alike, self.find = call_alike, find

    # Running

    def allow(self, tree: ast.Module) -> None:
        """Raise what may be spent by what a module may spend."""
        lines = (tree.body[-1].end_lineno or 0) if tree.body else 0
        self.budget += STEPS_OF_A_LINE * lines
        self.terms.left += TERMS_OF_A_LINE * lines

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression."""
        self.spend(node)
        return self._expressions[type(node)](self, node)

    def spend(self, node: ast.AST | None = None) -> None:
        """Count a step of the run. Raises: CannotFollow, where there have been too many."""
        self.budget -= 1
        if self.budget < 0:
            raise CannotFollow(node, "the run takes too long")

    def execute(self, body: Sequence[ast.stmt]) -> None:
        """Run statements until nobody runs them any more."""
        assumed = self.assumed
        for statement in body:
            self.come(statement)
            self._statements[type(statement)](self, statement)
            frame = self.frame
            if frame.jumped:
                self.close_gate(frame)
                if self.gate is not self.terms.true:
                    self.assumed = self.assuming_that(self.gate)
            if not self.is_running:
                break
        self.assumed = assumed

    def call(self, callee: Value, given: Arguments, site: ast.AST) -> Value:
        """What calling a value gives."""
        if isinstance(callee, Split):
            found = self.call_alike(self, callee, given, site)
            if found is not None:
                return found
        return self.each(
            callee, lambda term: self._calls.get(term.kind, self._calls[""])(self, term, given, site)
        )

    @property
    def is_running(self) -> bool:
        """Whether any process runs on."""
        path, gate, terms = self.path, self.gate, self.terms
        if path is terms.true and gate is path:
            return True
        false = terms.false
        if path is false or gate is false:
            return False
        if type(path) is Term and type(gate) is Term:
            return True
        return any(p is not false and g is not false for p, g in zip(columns(path), columns(gate)))

    @property
    def active(self) -> Value:
        """The condition under which each process comes here."""
        return self.path if self.gate is self.terms.true else lift(self.terms.both, self.path, self.gate)

    def come(self, node: ast.stmt | ast.expr) -> None:
        """Record when each process runs a statement, a call or one branch of a conditional expression."""
        ways, way = self.record.came.setdefault(node, []), (self.path, self.gate)
        if not ways or ways[-1] != way:
            ways.append(way)

    def place(self, node: ast.AST) -> Place:
        """Where a node of the code that is being run is."""
        return self.frame.module, node

    # Conditions and branches

    def fork(
        self, test: Value, then: Callable[[], None], other: Callable[[], None], site: ast.AST | None = None
    ) -> None:
        """Run one of two ways by a test, or both where it may be true or false, and keep what each left.

        site: the test in the code, where it is a person's.
        """
        self.spend()
        terms = self.terms
        test = self.condition(test)
        if test is terms.true or test is terms.false:
            return then() if test is terms.true else other()
        path, under = self.path, self.under
        if site is not None and not alike(test):
            self.under = (*under, Tested(self.place(site), test))
        one, ends_one = self._branch(path, test, then)
        two, ends_two = self._branch(path, lift(terms.negated, test), other)
        self.under = under
        # Who ends by an error on one way is taken to go the other.
        chosen = lift(self._chosen, test, ends_one, ends_two)
        for key in {**one, **two}:
            now = self.store.values.get(key, terms.unset)
            self.store.put(key, lift(terms.either, chosen, one.get(key, now), two.get(key, now)))
        self.path = lift(self._after, path, lift(terms.either, chosen, ends_one, ends_two))
        return None

    def _branch(self, path: Value, test: Value, run: Callable[[], None]) -> tuple[dict[Key, Value], Value]:
        """What one way writes, and the path at its end."""
        begun = self.store.begin()
        gate, assumed = self.gate, self.assumed
        self.path = lift(self.terms.both, path, test)
        self.assumed = self.assuming_that(test)
        if self.is_running:
            run()
        ended = self.path
        self.gate, self.assumed = gate, assumed
        return self.store.undo(begun), ended

    def _chosen(self, test: Term, one: Term, two: Term) -> Term:
        false = self.terms.false
        if test.kind != "const" and (one is false) != (two is false):
            return self.terms.truth(two is false)
        return test

    def _after(self, path: Term, ends: Term) -> Term:
        """The path behind a branch: as it was in front, unless an error ended it."""
        return ends if ends is self.terms.false else path

    def choose(
        self,
        test: Value,
        then: Callable[[], Value],
        other: Callable[[], Value],
        site: ast.AST | None = None,
    ) -> Value:
        """The value of one of two ways. site: as in `fork`."""
        values: dict[bool, Value] = {}

        def run(way: bool, make: Callable[[], Value]) -> None:
            values[way] = make()

        test = self.condition(test)
        self.fork(test, lambda: run(True, then), lambda: run(False, other), site)
        unset = self.terms.unset
        return lift(self.terms.either, test, values.get(True, unset), values.get(False, unset))

    def each(self, value: Value, action: Callable[[Term], Value]) -> Value:
        """What an action gives for each thing that a value may be, in the processes that have it."""
        if isinstance(value, Split):
            path, found = self.path, {}
            for term in dict.fromkeys(value):
                mine = joined([self.terms.truth(other is term) for other in value])
                self.path = lift(self.terms.both, path, mine)
                found[term] = self.each(term, action) if self.is_running else self.terms.unset
            self.path = path
            return joined([columns(found[term])[process] for process, term in enumerate(value)])
        if value.kind not in ("either", "turn"):
            return action(value)
        leaves = [term for term in self._leaves(value) if term is not self.terms.unset]
        return self._one_of(value, leaves, action) if leaves else action(self.terms.unset)

    def _leaves(self, value: Term) -> list[Term]:
        """The things that a value may be here, each once."""
        found: dict[Term, None] = {}
        seen: set[Term] = set()
        waiting = [value]
        while waiting:
            term = self.assuming(waiting.pop())
            if term in seen:
                continue
            seen.add(term)
            if term.kind == "either":
                waiting += [*term.inner][:0:-1]
            elif term.kind == "turn":
                waiting.append([*term.inner][-1])
            else:
                found[term] = None
        return [*found]

    def _one_of(self, value: Term, leaves: list[Term], action: Callable[[Term], Value]) -> Value:
        """What an action gives for each of these, where a value is it; each begins with what is there now."""
        if len(leaves) == 1:
            return action(leaves[0])
        path, ways = self.path, []
        for leaf in leaves:
            self.spend()
            test = self.terms.is_leaf(value, leaf)
            if self.truth(test) is not False:
                ways.append(self._way(path, test, leaf, action))
        ways = [way for way in ways if way.ended is not self.terms.false] or ways
        for key in {key: None for way in ways for key in way.written}:
            now = self.store.values.get(key, self.terms.unset)
            self.store.put(key, self._folded(ways, [way.written.get(key, now) for way in ways]))
        self.path = path if any(way.ended is not self.terms.false for way in ways) else self.terms.false
        return self._folded(ways, [way.result for way in ways])

    def _way(self, path: Value, test: Term, leaf: Term, action: Callable[[Term], Value]) -> _Way:
        results: list[Value] = []
        written, ended = self._branch(path, test, lambda: results.append(action(leaf)))
        return _Way(test, written, ended, results[0] if results else self.terms.unset)

    def _folded(self, ways: list[_Way], values: list[Value]) -> Value:
        """The value behind ways of which one is taken."""
        result = values[-1]
        for way, value in zip(ways[-2::-1], values[-2::-1]):
            result = lift(self.terms.either, way.test, value, result)
        return result

    @contextmanager
    def maybe(self, site: ast.AST, kind: str, *about: Value) -> Iterator[None]:
        """Run something that a library may run: what it writes may be written."""
        test = (
            lift(lambda *parts: self.terms.make(kind, site, *parts), *about)
            if about
            else self.terms.make(kind, site)
        )
        path, gate = self.path, self.gate
        self.path = lift(self.terms.both, path, test)
        self.gate = lift(self.terms.both, gate, test)
        yield
        self.path, self.gate = path, gate

    # Jumps

    def jump(self, key: Key) -> None:
        """Leave a call or a loop: the rest of it is not run by the processes that come here."""
        self.write(key, self.terms.true)
        self.frame.jumped = True

    @contextmanager
    def catch(self, node: ast.AST) -> Iterator[Key]:
        """Run code whose errors are caught. Yields: the key that says in which processes there was one.

        In a loop who has caught an error goes on with the next turn, beside those that had none. Elsewhere
        nothing is left of a training whose rank fails: it is taken to end.
        """
        key, frame, catching = (self.frame, (RAISED, node)), self.frame, self.catching
        self.store.put(key, self.terms.false)
        if self.loops:
            self.catching = (*catching, key)
            frame.jumps.append(key)
        yield key
        if self.loops:
            self.catching = catching
            frame.jumps.remove(key)
            self.close_gate(frame)

    def throw(self) -> None:
        """Raise an error."""
        if self.catching:
            self.jump(self.catching[-1])
        else:
            self.stop()

    def _left(self, path: Term, gate: Term) -> Term:
        return gate if path is self.terms.false else self.terms.false

    def close_gate(self, frame: Frame) -> None:
        """The gate as the jumps of a frame leave it."""
        terms = self.terms
        gate = terms.true if frame.gate is None else frame.gate
        for key in frame.jumps:
            left = self.store.values.get(key)
            if left is not None and left is not terms.unset and left is not terms.false:
                gate = lift(lambda gate, left: terms.both(gate, terms.negated(left)), gate, left)
        self.gate = gate

    def stop(self) -> None:
        """End the processes that come here: an error, or the end of the program."""
        self.path = lift(self._left, self.gate, self.path)

    def site(self, kind: str, node: ast.AST, *parts: Value) -> Value:
        """A term that is made at a place of the code."""
        self.record.places.setdefault(node, self.frame.module)
        return (
            lift(lambda *inner: self.terms.make(kind, node, *inner), *parts)
            if parts
            else self.terms.make(kind, node)
        )

    def own(self, kind: str, node: ast.AST, *numbers: Hashable) -> Value:
        """What is different in each process, or in those with different numbers."""
        self.record.places.setdefault(node, self.frame.module)
        return joined([self.terms.make(kind, node, each) for each in numbers or range(PROCESSES)])
