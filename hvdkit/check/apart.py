"""What is certainly another on each rank of a Horovod program: shares of the data, what is computed of them.

The same walk as for originals (facts/collectives), with stricter answers: there all data will be shared out,
here it has to be seen that they are.
"""

from __future__ import annotations

import ast

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.loops import training_loops
from hvdkit.migrate.facts.collectives.dependence import Dependence
from hvdkit.migrate.facts.collectives.different_on_every_rank import CLOCKS
from hvdkit.migrate.facts.data.cut_by_rank import is_rank_share
from hvdkit.migrate.facts.data.loaders import every_loader
from hvdkit.migrate.facts.data.sharding import is_sharded
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.tensorflow.datasets import dataset_chains
from hvdkit.migrate.facts.tensorflow.own_shares import is_cut
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names

# Libraries whose functions give what they make of their arguments, and ask no other rank.
ALONE = ("torch.", "torchvision.", "timm.", "numpy.", "math.", "sklearn.", "tensorflow.", "keras.")
TALKS = ("torch.distributed.", "tensorflow.distribute.")
# What is as long, as large or of the same kind on every rank.
SHAPES = frozenset(("shape", "size", "dim", "ndim", "numel", "dtype", "device"))
ALIKE = frozenset(("len", "isinstance", "hasattr", "callable", "type"))


class _Shared(Dependence):
    """What a loop draws from this rank's share of the data."""

    def at(self, names: Names, part: ast.AST) -> bool | None:
        if isinstance(part, ast.Call) and getattr(part.func, "id", "") == "next" and part.args:
            return self.over(names, part.args[0])
        return _alone(self.facts, names, part)

    def over(self, names: Names, iterated: ast.expr) -> bool | None:
        loaders = training_loops(self.facts).loaders_in(names, iterated)
        if loaders:
            return all(_is_sharded(self.facts, loader) for loader in loaders)
        chains = dataset_chains(self.facts).follow(names, iterated)
        if any(chain.ops for chain in chains) and not any(chain.lost for chain in chains):
            return all(is_cut(self.facts, chain) for chain in chains)
        return True if is_rank_share(self.facts, names, iterated) else None


@once
def _shared(facts: Facts) -> _Shared:
    """One search for all questions: what it knows is not looked for again."""
    return _Shared(facts)


class _Own(Dependence):
    """Numbers of this rank alone: computed of its share, read from its clock, or found by one rank only."""

    def at(self, names: Names, part: ast.AST) -> bool | None:
        if isinstance(part, ast.Compare):
            kinds = [rank_kinds(self.facts).of(names, side) for side in (part.left, *part.comparators)]
            if any({"rank", "local_rank"} & kind for kind in kinds):
                return True
        if isinstance(part, ast.Call):
            if set(names.qualified(part.func)) & set(CLOCKS):
                return True
            if _shared(self.facts).holds(names, part):
                return True
        if isinstance(part, ast.Subscript) and isinstance(getattr(part.slice, "value", None), str):
            return False  # `stats["bleu"]`: what else is in there is no matter
        return _alone(self.facts, names, part)

    def over(self, names: Names, iterated: ast.expr) -> bool | None:
        # A batch by itself is no number that a test is about; what is computed of it is.
        return False if training_loops(self.facts).loaders_in(names, iterated) else None


def differs(facts: Facts, names: Names, expression: ast.expr) -> bool:
    """Whether an expression is certainly not the same on every rank."""
    return _own(facts).holds(names, expression)


@once
def _own(facts: Facts) -> _Own:
    return _Own(facts)


def _alone(facts: Facts, names: Names, part: ast.AST) -> bool | None:
    """False for what is alike on all ranks, or made by what may ask the others; None for all else."""
    if isinstance(part, ast.Compare) and any(isinstance(op, (ast.Is, ast.IsNot)) for op in part.ops):
        return False
    if isinstance(part, ast.Attribute) and part.attr in SHAPES:
        return False
    if isinstance(part, ast.Call):
        if getattr(part.func, "id", "") in ALIKE:
            return False
        known = facts.flow.qualified(names, part.func)
        if known and not facts.flow.functions(names, part) and not all(map(_asks_nobody, known)):
            return False
    if isinstance(part, (ast.Name, ast.Attribute)):
        values = facts.flow.values(names, part)
        if any(
            value.kind == "made" and not value.unknown and not _asks_nobody(value.name) for value in values
        ):
            return False
    return None


def _asks_nobody(name: str) -> bool:
    builtin = "." not in name
    return builtin or (name.startswith(ALONE) and not name.startswith(TALKS))


def _is_sharded(facts: Facts, loader: Value) -> bool:
    return any(each.value == loader and is_sharded(facts, each) for each in every_loader(facts))
