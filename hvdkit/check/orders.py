"""What each rank orders or picks by random numbers of its own, before a share is cut from it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.cuts import cuts, shards
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.collectives.dependence import Dependence
from hvdkit.migrate.facts.data.picks import picks_behind
from hvdkit.migrate.facts.data.random_splits import seeded_alike
from hvdkit.migrate.facts.facts import Site
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.tensorflow.datasets import dataset_chains, disorder
from hvdkit.source.index.names import Names


def picked_apart(facts: Facts, program: ProgramFacts) -> tuple[list[Site], list[tuple[Names, ast.AST]]]:
    """The draws by which each rank picks for itself what shares are cut from, and such sets, each once.

    A rank may order or pick from its own share as it likes.
    """
    found = [*cuts(facts, program)]
    draws, sets = picks_behind(facts, program, ((cut.names, cut.whole) for cut in found))
    shares = _Shares(facts, frozenset(cut.node for cut in found))
    return [site for site in draws if not any(shares.holds(site.names, a) for a in site.node.args)], sets


class _Shares(Dependence):
    """What is made of a share that was cut by rank."""

    def __init__(self, facts: Facts, cut: frozenset[ast.expr]) -> None:
        super().__init__(facts)
        self.cut = cut

    def at(self, names: Names, part: ast.AST) -> bool | None:
        if isinstance(part, ast.Call) and getattr(part.func, "id", "") == "len":
            return False  # how many there are
        return True if part in self.cut else None


def disordered_shards(facts: Facts, program: ProgramFacts) -> Iterator[tuple[Names, ast.Call, str]]:
    """TensorFlow's shard() of elements that each rank has in another order, and why."""
    if "tensorflow" in seeded_alike(facts, program):
        return
    for names, call, receiver in shards(facts, program):
        for chain in dataset_chains(facts).follow(names, receiver):
            why = disorder(facts, chain, len(chain.ops), certain=True)
            if why:
                yield names, call, why
                break
