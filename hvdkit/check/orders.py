"""What each rank orders or picks by random numbers of its own, before a share is cut from it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.cuts import cuts, shards
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.picks import picks_behind
from hvdkit.migrate.facts.data.random_splits import seeded_alike
from hvdkit.migrate.facts.facts import Site
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.tensorflow.datasets import dataset_chains, disorder
from hvdkit.migrate.index.names import Names


def picked_apart(facts: Facts, program: ProgramFacts) -> tuple[list[Site], list[tuple[Names, ast.AST]]]:
    """The draws by which each rank picks for itself what shares are cut from, and such sets, each once."""
    return picks_behind(facts, program, ((cut.names, cut.whole) for cut in cuts(facts, program)))


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
