"""Where a Horovod program takes its rank's share of something: by a slice, an index, a sampler, a shard()."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import given
from hvdkit.source.index.names import Names

RANKS = frozenset(("rank", "local_rank"))
# Functions of numbers that give numbers.
COUNTS = frozenset(("int", "min", "max", "range", "slice", "list", "arange", "ceil", "floor"))


@dataclass(frozen=True)
class Cut:
    """An expression that gives a rank its part, and what it is a part of."""

    names: Names
    node: ast.expr
    whole: ast.expr


def cuts(facts: Facts, program: ProgramFacts) -> Iterator[Cut]:
    """Every cut by rank in the files of a program."""
    for names in sorted(program.files, key=lambda names: str(names.source.path)):
        for part in names.of_kind(ast.Subscript):
            if isinstance(part.ctx, ast.Load) and _by_rank(facts, names, part.slice):
                yield Cut(names, part, part.value)
        for test in names.of_kind(ast.Compare):
            yield from (Cut(names, test, whole) for whole in _turn_by_turn(facts, names, test))
    for site in facts.calls("torch.utils.data.Subset", *words.SAMPLERS):
        whole = given(site.node, 0, "dataset")
        indices = given(site.node, 1, "indices") if site.name not in words.SAMPLERS else None
        if site.names in program.files and whole is not None:
            if site.name in words.SAMPLERS or (indices is not None and _by_rank(facts, site.names, indices)):
                yield Cut(site.names, site.node, whole)
    for names, call, receiver in shards(facts, program):
        yield Cut(names, call, receiver)


def shards(facts: Facts, program: ProgramFacts) -> Iterator[tuple[Names, ast.Call, ast.expr]]:
    """`dataset.shard(size, rank)`, of TensorFlow's and Hugging Face's, with what is cut."""
    for names, call, receiver in facts.methods("shard"):
        index = given(call, 1, "index")
        if names in program.files and index is not None and _by_rank(facts, names, index):
            yield names, call, receiver


@once
def _by_rank(facts: Facts, names: Names, index: ast.AST) -> bool:
    """Whether an index or a slice is calculated from a rank, or counts on from one: `range(rank, n, size)`.

    How many of its share a rank has is no such number: `order = randperm(len(mine))`.
    """
    seen: set[ast.AST] = set()
    waiting = [index]
    while waiting:
        part = waiting.pop()
        if part not in seen:
            seen.add(part)
            if isinstance(part, ast.expr) and RANKS & rank_kinds(facts).of(names, part):
                return True
            waiting += filter(None, _calculated_from(names, part))
    return False


def _calculated_from(names: Names, index: ast.AST) -> Sequence[ast.expr | None]:
    """The numbers that an index is calculated from."""
    if isinstance(index, ast.Name):
        kinds = ("assign", "each")
        return [b.value for b in names.bindings(index.id, index) if b.kind in kinds and not b.path]
    if isinstance(index, ast.Slice):
        return index.lower, index.upper
    if isinstance(index, ast.BinOp):
        return index.left, index.right
    if isinstance(index, ast.Tuple):
        return index.elts
    if isinstance(index, ast.Subscript):  # `order[rank::size]`
        return [index.slice]
    if isinstance(index, ast.Call) and getattr(index.func, "id", getattr(index.func, "attr", "")) in COUNTS:
        return index.args
    return ()


def _turn_by_turn(facts: Facts, names: Names, test: ast.Compare) -> Iterator[ast.expr]:
    """What `number % size == rank` picks from: what the number counts."""
    sides = [test.left, *test.comparators]
    if len(sides) != 2 or not any(RANKS & rank_kinds(facts).of(names, side) for side in sides):
        return
    for side in sides:
        counted = side.left if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mod) else None
        for binding in names.bindings(counted.id, counted) if isinstance(counted, ast.Name) else ():
            if binding.kind == "each" and binding.value is not None:
                yield binding.value
