"""Whether every process of a job reaches the launch code: tests as true, false or unknown.

A job whose processes skip their own initialisation is N copies of the script. The answers are about the
migrated program, where tests for a launcher have become size() > 1. One rank or all is what
which_processes.py answers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from operator import eq, ge, gt, le, lt, ne
from typing import Callable

from hvdkit.migrate.facts.code.launch_options import Option
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.definitions import Definition, definitions, is_replaced
from hvdkit.migrate.facts.launch.launch import Launch, launch_of
from hvdkit.migrate.facts.launch.lone_processes import leaves
from hvdkit.migrate.facts.launch.ranks import constant
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.facts.programs.training_paths import training_paths
from hvdkit.migrate.values.arguments import keyword
from hvdkit.migrate.values.vocabulary import EVERY_HOROVOD
from hvdkit.source.index.names import FUNCTIONS, Names
from hvdkit.source.index.statements import statements_above

TRUE_CALLS = frozenset(
    (
        "torch.distributed.is_available",
        "torch.distributed.is_initialized",
        "torch.distributed.is_torchelastic_launched",
    )
)
STARTED = frozenset(f"{module}.is_initialized" for module in EVERY_HOROVOD)
COMPARISONS: dict[type, Callable[[int, int], bool]] = {
    ast.Gt: gt,
    ast.GtE: ge,
    ast.Lt: lt,
    ast.LtE: le,
    ast.Eq: eq,
    ast.NotEq: ne,
}
MAX_STEPS = 12


class Reach:
    """Three-valued evaluation of tests in a job of several processes."""

    def __init__(self, facts: Facts, launch: Launch) -> None:
        self._facts = facts
        self._launch = launch
        self._raised: set[ast.AST] = set()
        self._known: dict[tuple[ast.AST, str], bool | None] = {}
        self._open: set[tuple[ast.AST, str]] = set()
        self._guesses = 0
        self.flags = self._needed_flags()
        self._raised.update(option.node for option in self.flags)
        self._known.clear()  # answered while the flags were not yet raised

    def _needed_flags(self) -> list[Option]:
        """Options that are no unless given and that decide whether the launch code runs: they must be yes."""
        found: list[Option] = []
        sites = [(site.names, site.node) for site in self._launch.inits]
        sites += [(spawn.names, spawn.node) for spawn in self._launch.spawns]
        for names, node in sites:
            for test, wanted in tests_around(names, node):
                if wanted and not self.holds(names, test):
                    found += self._flags_in(names, test, 0)
        return list(dict.fromkeys(found))

    def _flags_in(self, names: Names, test: ast.expr, steps: int) -> list[Option]:
        if isinstance(test, ast.BoolOp):
            inside = [self._flags_in(names, v, steps) for v in test.values if not self.holds(names, v)]
            chosen = inside if isinstance(test.op, ast.And) else [part for part in inside if part][:1]
            return [option for part in chosen for option in part]
        if not isinstance(test, (ast.Name, ast.Attribute)) or steps > MAX_STEPS:
            return []
        found: list[Option] = []
        for origin in self._launch.origins(names, test):
            if origin.option is not None and origin.option.is_flag:
                found.append(origin.option)
            elif origin.kind == "expression":
                found += self._flags_in(origin.names, origin.node, steps + 1)
        return found

    def reached(self, names: Names, node: ast.AST) -> bool | None:
        """Whether every process reaches a node: by the tests around and above it, and by its callers."""
        return self._answered((node, "reached"), lambda: self._reached(names, node))

    def _reached(self, names: Names, node: ast.AST) -> bool | None:
        answers = [_as(self.holds(names, test), wanted) for test, wanted in tests_before(names, node)]
        function = names.function(node)
        sites = self._facts.flow.call_sites(names, function) if function is not None else []
        if sites and False not in answers:
            called = [self.reached(*site) for site in sites]
            answers.append(True if True in called else _alike(called))
        if False in answers:
            return False
        return None if None in answers else True

    def holds(self, names: Names, test: ast.expr) -> bool | None:
        """Whether a test is true in every process of a job of several."""
        return self._answered((test, "holds"), lambda: self._holds(names, test))

    def _answered(self, key: tuple[ast.AST, str], find: Callable[[], bool | None]) -> bool | None:
        """A remembered answer; what leads back to itself is unknown, and what needed it is not kept."""
        if key in self._open:
            self._guesses += 1
            return None
        if key not in self._known:
            before = self._guesses
            self._open.add(key)
            answer = find()
            self._open.remove(key)
            if self._open and self._guesses > before:
                return answer
            self._known[key] = answer
        return self._known[key]

    def _holds(self, names: Names, test: ast.expr) -> bool | None:
        if test in self._launch.tests:
            return not self._launch.tests[test]
        if isinstance(test, ast.Constant):
            return bool(test.value)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return _as(self.holds(names, test.operand), False)
        if isinstance(test, ast.BoolOp):
            answers = [self.holds(names, value) for value in test.values]
            decisive = isinstance(test.op, ast.Or)
            if decisive in answers:
                return decisive
            return None if None in answers else not decisive
        if isinstance(test, ast.IfExp):
            chosen = self.holds(names, test.test)
            ways = [test.body, test.orelse] if chosen is None else [test.body if chosen else test.orelse]
            return _alike([self.holds(names, way) for way in ways])
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            return self._compare(names, test)
        if isinstance(test, ast.Call):
            return self._call(names, test)
        if isinstance(test, (ast.Name, ast.Attribute, ast.Subscript)):
            return self._stored(names, test)
        return None

    def _compare(self, names: Names, test: ast.Compare) -> bool | None:
        """`world_size > 1`, `rank != -1` and their like; a rank itself differs from process to process."""
        right, operator = constant(test.comparators[0]), test.ops[0]
        if isinstance(test.left, ast.Name) and test.left.id == "__name__":
            return isinstance(operator, ast.Eq) and right == "__main__"
        if not isinstance(right, int):
            return None
        meanings = self._launch.meaning(names, test.left)
        if "size" in meanings or "local_size" in meanings:
            low = 2
        elif meanings & {"rank", "local_rank", "cross_rank"}:
            low = 0
        else:
            return None
        answers: dict[type, bool | None] = {
            ast.Gt: True if low > right else None,
            ast.GtE: True if low >= right else None,
            ast.Lt: False if low >= right else None,
            ast.LtE: False if low > right else None,
            ast.Eq: False if right < low else None,
            ast.NotEq: True if right < low else None,
        }
        answer = answers.get(type(operator))
        lone = answer is not None and self._may_be_number(names, test.left, operator, right, answer, 0)
        return None if lone else answer

    def _may_be_number(
        self, names: Names, node: ast.expr, operator: ast.cmpop, right: int, answer: bool, steps: int
    ) -> bool:
        """Whether a size or rank may be a literal number for which the comparison comes out differently.

        One that a later definition overwrites does not count: `size = 1`, then `size = get_world_size()`.
        """
        if steps > MAX_STEPS:
            return False
        if isinstance(node, ast.IfExp):
            chosen = self.holds(names, node.test)
            ways = [node.body, node.orelse] if chosen is None else [node.body if chosen else node.orelse]
            return any(self._may_be_number(names, way, operator, right, answer, steps + 1) for way in ways)
        number = constant(node)
        if isinstance(number, int):
            return _compared(number, operator, right) is not answer
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return False
        found = self._definitions(names, node)
        return any(
            self._may_be_number(each.names, each.value, operator, right, answer, steps + 1)
            for each in found
            if each.value is not None
            and each.value is not node
            and not any(
                other.replaces
                and other.value is not None
                and constant(other.value) is None
                and is_replaced(self._facts, each, other)
                for other in found
                if other is not each
            )
        )

    def may_stay(self, names: Names, node: ast.expr, number: int, steps: int = 0) -> bool:
        """Whether a rank may stay a literal number in a job of several ranks.

        `rank = 0` does, above `if distributed: rank = hvd.rank()` where that is not shown to be run.
        """
        if not isinstance(node, (ast.Name, ast.Attribute)) or steps > MAX_STEPS:
            return isinstance(node, ast.expr) and constant(node) == number
        found = self._definitions(names, node)
        asked = [each for each in found if each.value is not None and constant(each.value) is None]
        sure = [each for each in asked if self._always_replaces(each)]
        return any(
            each.value is not node
            and not any(is_replaced(self._facts, each, last) for last in sure if last is not each)
            and self.may_stay(each.names, each.value, number, steps + 1)
            for each in found
            if asked and each.value is not None
        )

    def _call(self, names: Names, test: ast.Call) -> bool | None:
        if isinstance(test.func, ast.Name) and test.func.id == "bool" and len(test.args) == 1:
            return self.holds(names, test.args[0])
        if self._facts.flow.qualified(names, test.func) & (TRUE_CALLS | STARTED):
            return True
        return self._stored(names, test)

    def _stored(self, names: Names, test: ast.expr) -> bool | None:
        """A flag: as all definitions have it that are not replaced by one that every process runs."""
        answers = [(each, self._given(each)) for each in self._definitions(names, test)]
        for outcome in (True, False):
            sure = [each for each, answer in answers if answer is outcome and self._always_replaces(each)]
            others = [each for each, answer in answers if answer is not outcome]
            replaced = (any(is_replaced(self._facts, each, last) for last in sure) for each in others)
            if answers and all(replaced):
                return outcome
        return None

    def _definitions(self, names: Names, node: ast.expr) -> list[Definition]:
        """The definitions that a job reaches: those of programs that train, where others share the code."""
        found = list(definitions(self._facts, self._launch, names, node))
        trained = {each.at for each in found if each.at is not None and self._trains(*each.at)}
        return [
            each
            for each in found
            if each.at is None
            or ((not trained or each.at in trained) and self.reached(*each.at) is not False)
        ]

    def _trains(self, names: Names, node: ast.AST) -> bool:
        """Whether a program that trains may come to a node."""
        return any(
            runs_in(self._facts, program, names, node)
            for program in programs_of(self._facts)
            if training_paths(self._facts, program)
        )

    def _always_replaces(self, definition: Definition) -> bool:
        return definition.replaces and definition.at is not None and self.reached(*definition.at) is True

    def _given(self, definition: Definition) -> bool | None:
        if definition.option is not None:
            return True if definition.option.node in self._raised else _by_default(definition.option)
        return None if definition.value is None else self.holds(definition.names, definition.value)


def tests_around(names: Names, node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """The tests around a node in its function, with the outcome that leads to it."""
    child = node
    for parent in names.ancestors(node):
        if isinstance(parent, FUNCTIONS):
            return
        if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
            body = parent.body if isinstance(parent.body, list) else [parent.body]
            yield parent.test, child in body
        child = parent


def tests_before(names: Names, node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """As `tests_around`, with the tests above it in its function where another outcome leaves."""
    yield from tests_around(names, node)
    child = node
    for parent in names.ancestors(node):
        for above in statements_above(names, child):
            if isinstance(above, ast.If) and leaves(names, above.body[-1]):
                yield above.test, False
        if isinstance(parent, FUNCTIONS):
            return
        child = parent


def _alike(answers: list[bool | None]) -> bool | None:
    """What all answers are; None where they differ."""
    return answers[0] if answers and all(answer is answers[0] for answer in answers) else None


def _by_default(option: Option) -> bool | None:
    """The truth of an option that nobody gives."""
    default = option.default
    if default is not None:
        return bool(default.value) if isinstance(default, ast.Constant) else None
    action = keyword(option.node, "action")
    if isinstance(action, ast.Constant) and action.value in ("store_true", "store_false"):
        return bool(action.value == "store_false")
    return None


def _compared(left: int, operator: ast.cmpop, right: int) -> bool | None:
    """How a comparison of two numbers comes out; None for one of another kind."""
    compare = COMPARISONS.get(type(operator))
    return compare(left, right) if compare is not None else None


def _as(answer: bool | None, wanted: bool) -> bool | None:
    return answer if answer is None else answer == wanted


@once
def launch_reach(facts: Facts) -> Reach:
    """Whether every process of a job gets to the launch code."""
    return Reach(facts, launch_of(facts))
