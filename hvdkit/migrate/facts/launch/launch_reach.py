"""Whether every process of a job reaches the launch code: tests as true, false or unknown.

A job whose processes skip their own initialisation is N copies of the script. The answers are about the
migrated program, where tests for a launcher have become size() > 1. One rank or all is what
which_processes.py answers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.code.launch_options import Option
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.launch import Launch, Origin, launch_of
from hvdkit.migrate.facts.launch.ranks import constant
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.index.names import FUNCTIONS, Names
from hvdkit.migrate.values.arguments import keyword

TRUE_CALLS = frozenset(
    (
        "torch.distributed.is_available",
        "torch.distributed.is_initialized",
        "torch.distributed.is_torchelastic_launched",
        "torch.cuda.is_available",
        "torch.accelerator.is_available",
    )
)
MAX_STEPS = 12


class Reach:
    """Three-valued evaluation of tests in a job of several processes."""

    def __init__(self, facts: Facts, launch: Launch) -> None:
        self._facts = facts
        self._launch = launch
        self._raised: set[ast.AST] = set()
        self.flags = self._needed_flags()
        self._raised.update(option.node for option in self.flags)

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

    def reached(self, names: Names, node: ast.AST, steps: int = 0) -> bool | None:
        """Whether every process runs a node of its function: the tests around it taken together."""
        answers = [
            _as(self.holds(names, test, steps + 1), wanted) for test, wanted in tests_around(names, node)
        ]
        if False in answers:
            return False
        return None if None in answers else True

    def holds(self, names: Names, test: ast.expr, steps: int = 0) -> bool | None:
        """Whether a test is true in every process of a job of several."""
        if test in self._launch.tests:
            return not self._launch.tests[test]
        if steps > MAX_STEPS:
            return None
        if isinstance(test, ast.Constant):
            return bool(test.value)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return _as(self.holds(names, test.operand, steps + 1), False)
        if isinstance(test, ast.BoolOp):
            answers = [self.holds(names, value, steps + 1) for value in test.values]
            decisive = isinstance(test.op, ast.Or)
            if decisive in answers:
                return decisive
            return None if None in answers else not decisive
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            return self._compare(names, test)
        if isinstance(test, ast.Call):
            return self._call(names, test, steps)
        if isinstance(test, (ast.Name, ast.Attribute)):
            return self._stored(names, test, steps)
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
        return answers.get(type(operator))

    def _call(self, names: Names, test: ast.Call, steps: int) -> bool | None:
        if isinstance(test.func, ast.Name) and test.func.id == "bool" and len(test.args) == 1:
            return self.holds(names, test.args[0], steps + 1)
        if self._facts.flow.qualified(names, test.func) & TRUE_CALLS:
            return True
        return self._stored(names, test, steps) if self._facts.flow.functions(names, test) else None

    def _stored(self, names: Names, test: ast.expr, steps: int) -> bool | None:
        """A flag: true when a definition that every process runs makes it so, or when none makes it false."""
        origins = self._launch.origins(names, test)
        answers = [self._origin(origin, steps) for origin in origins]
        for origin, answer in zip(origins, answers):
            if answer and (origin.option is not None or self.reached(origin.names, origin.node, steps + 1)):
                return True
        if answers and all(answer == answers[0] for answer in answers):
            return answers[0]
        return None

    def _origin(self, origin: Origin, steps: int) -> bool | None:
        if origin.option is not None:
            return True if origin.node in self._raised else _by_default(origin.option)
        if origin.kind != "expression":
            return None
        return self.holds(origin.names, origin.node, steps + 1)


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


def _by_default(option: Option) -> bool | None:
    """The truth of an option that nobody gives."""
    action = keyword(option.node, "action")
    if isinstance(action, ast.Constant) and action.value in ("store_true", "store_false"):
        return bool(action.value == "store_false")
    default = option.default
    return bool(default.value) if isinstance(default, ast.Constant) else None


def _as(answer: bool | None, wanted: bool) -> bool | None:
    return answer if answer is None else answer == wanted


@once
def launch_reach(facts: Facts) -> Reach:
    """Whether every process of a job gets to the launch code."""
    return Reach(facts, launch_of(facts))
