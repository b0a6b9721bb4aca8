"""Another parallelism that stands behind an option, as `--fsdp`: where the script can stop instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import takewhile

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.code.unused import mentions_of, outermost, unused
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.lone_processes import says_distributed
from hvdkit.migrate.facts.launch.other_parallelism import Use, other_parallelism
from hvdkit.migrate.facts.launch.rank_kinds import CONSTANT, UNKNOWN, rank_kinds
from hvdkit.migrate.facts.launch.which_processes import asks_for_process
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import ProgramFacts, programs_of, programs_with
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.index.names import FUNCTIONS, Names

MAX_CALLERS = 6
# What an option's test may be made of: no call, whose answer is not the person's.
_OPTION = (
    *(ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp),
    *(ast.Tuple, ast.List, ast.Set, ast.expr_context, ast.cmpop, ast.boolop, ast.unaryop),
)


@dataclass(frozen=True)
class Stop:
    """A branch of an `if` on an option. field: "body" or "orelse"; use: what the branch leads to."""

    names: Names
    node: ast.If
    field: str
    use: Use

    @property
    def option(self) -> str:
        """The test with which the branch is taken."""
        test = self.node.test
        if self.field == "body":
            return ast.unparse(test)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return ast.unparse(test.operand)
        return f"not {ast.unparse(test)}" if isinstance(test, (ast.Name, ast.Attribute)) else "otherwise"

    def holds(self, names: Names, node: ast.AST) -> bool:
        """Whether a node stands in the branch."""
        return names is self.names and any(
            parent in getattr(self.node, self.field) for parent in (node, *names.ancestors(node))
        )


@once
def find_stops(facts: Facts) -> list[Stop]:
    """The branches without which programs that have data parallelism, too, have nothing else.

    Of an option that is a plain flag every branch stops, so that no half of what it did is left.
    """
    return [stop for program in programs_of(facts) for stop in _of_program(facts, program)]


def outermost_stop(stop: Stop, stops: Sequence[Stop]) -> Stop:
    """The one of the branches that holds a branch, and is in no other itself."""
    around = [other for other in stops if other.holds(stop.names, stop.node)]
    return outermost_stop(around[0], stops) if around else stop


def passed_by(facts: Facts, use: Use) -> bool:
    """Whether a use is in a function that nothing calls, and its programs are data parallel elsewhere."""
    programs = programs_with(facts, use.names)
    return unused(facts, use.names, use.node) and all(
        any(not unused(facts, *way) for way in _own_ways(facts, program)) for program in programs
    )


def _of_program(facts: Facts, program: ProgramFacts) -> list[Stop]:
    uses = [
        use for use in other_parallelism(facts) if use.names in program.files and not passed_by(facts, use)
    ]
    stops: list[Stop] = []
    for use in uses:
        around = _around(facts, use, use.names, use.node, 0)
        if not around:
            return []
        stops += around
    stops += [more for stop in stops for more in _same_flag(facts, program, stop)]
    ways = _own_ways(facts, program)
    return stops if any(not any(stop.holds(*way) for stop in stops) for way in ways) else []


def _own_ways(facts: Facts, program: ProgramFacts) -> Iterator[tuple[Names, ast.AST]]:
    """Where a program wraps a model in DDP or DataParallel, or an optimizer in Horovod's."""
    for site in facts.calls(*words.WRAPS, *words.HVD_OPTIMIZER):
        if site.names in program.files:
            yield site.names, site.node


def _around(facts: Facts, use: Use, names: Names, node: ast.AST, depth: int) -> list[Stop]:
    """The branches on every way to a node; none when a way leads there without an option."""
    child = node
    for parent in names.ancestors(node):
        if isinstance(parent, ast.If) and child is not parent.test and _is_option(facts, names, parent):
            stop = Stop(names, parent, "body" if child in parent.body else "orelse", use)
            return [] if _is_elif(stop) else [stop]
        child = parent
    definition = outermost(names, node)
    if definition is None or definition.decorator_list or depth == MAX_CALLERS:
        return []
    if facts.project.taken_where_passed_over(names.source.path, definition.name):
        return []
    found: list[Stop] = []
    for where, mention in mentions_of(facts, names, definition):
        if not isinstance(mention, ast.alias):
            more = _around(facts, use, where, mention, depth + 1)
            if not more:
                return []
            found += more
    return found


def _is_elif(stop: Stop) -> bool:
    block = getattr(stop.node, stop.field)
    source = stop.names.source
    return source.is_elif(block[0])


def _same_flag(facts: Facts, program: ProgramFacts, stop: Stop) -> Iterator[Stop]:
    """The other branches that are taken by the flag of a stop: `if args.fsdp:` elsewhere."""
    flag = stop.node.test
    if stop.field == "body" and isinstance(flag, ast.Attribute):
        for names in program.files:
            for other in names.of_kind(ast.If):
                if isinstance(other.test, ast.Attribute) and other.test.attr == flag.attr:
                    yield Stop(names, other, "body", stop.use)


def _is_option(facts: Facts, names: Names, choice: ast.If) -> bool:
    """Whether a test asks for settings alone: no rank, no size, nothing that is tried or called."""
    test = choice.test
    parts = [part for part in ast.walk(test) if isinstance(part, (ast.Name, ast.Attribute))]
    if not parts or not all(isinstance(part, _OPTION) for part in ast.walk(test)):
        return False
    if any(isinstance(part, (ast.Is, ast.IsNot)) for part in ast.walk(test)):
        return False  # `if scaler is not None`: of a thing that is there or not
    if asks_for_process(facts, names, choice):
        return False
    for part in parts:
        if says_distributed(facts, names, part) or rank_kinds(facts).of(names, part) - {CONSTANT, UNKNOWN}:
            return False
        if isinstance(part, ast.Name) and not _is_setting(facts, names, part):
            return False
    return True


def _is_setting(facts: Facts, names: Names, name: ast.Name) -> bool:
    """Whether a name is given or assigned by the project, and not by what could be imported."""
    bindings = names.bindings(name.id, name)
    for binding in bindings:
        if binding.kind == "import":
            module = binding.qualified.rpartition(".")[0] or binding.qualified
            if facts.project.find(module, names.source.path) is None:
                return False
        elif binding.kind not in ("param", "assign") or _is_tried(names, binding.node):
            return False
    return bool(bindings)


def _is_tried(names: Names, node: ast.AST) -> bool:
    around = takewhile(lambda parent: not isinstance(parent, FUNCTIONS), names.ancestors(node))
    return any(isinstance(parent, ast.Try) for parent in around)
