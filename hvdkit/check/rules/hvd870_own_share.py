"""HVD870: each rank evaluates its share of the data, and the shares are never put together."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import programs
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.loops import Loop, training_loops
from hvdkit.migrate.facts.data.loaders import Loader, every_loader
from hvdkit.migrate.facts.data.training_loaders import is_trained_on
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values import vocabulary as words

# Any of these words may put the shares together.
GATHERS = ("allreduce", "allgather", "all_reduce", "all_gather", "reducescatter", "join(", "Metric", "mpi4py")


def check(facts: Facts) -> Iterator[Finding]:
    seen = set()
    for program in programs(facts):
        if any(word in names.source.text for names in program.files for word in GATHERS):
            continue
        for loader in every_loader(facts):
            values = facts.flow.values(loader.names, loader.sampler)
            sharded = bool(values) and all(value.name in words.SAMPLERS for value in values)
            if loader.names not in program.files or not sharded or is_trained_on(facts, loader):
                continue
            if loader.node not in seen and _run_through(facts, program, loader):
                seen.add(loader.node)
                message = "each rank sees only its share of this data, and no result is reduced"
                advice = "sum counts with hvd.allreduce(x, op=hvd.Sum), or give every rank all of the data"
                yield manual("HVD870", loader.names, loader.node, message, advice)


def _run_through(facts: Facts, program: ProgramFacts, loader: Loader) -> bool:
    """Whether a loop runs over the loader: it is not only made."""
    return any(
        isinstance(node, ast.For) and loader.value in training_loops(facts).loaders_of(Loop(names, node))
        for names in program.files
        for node in names.loops
    )


RULE = Rule(
    id="HVD870",
    title="an evaluation on one rank's share",
    what="The accuracy that rank 0 prints covers only its share of the data, one part in hvd.size().",
    why="a DistributedSampler gives each rank its part, and Horovod reduces only what it is given, not what is printed.",
    safety="Nothing is edited: which numbers are sums and which are averages is for the author to decide.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            from torch.utils.data import DataLoader, DistributedSampler

            hvd.init()
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            correct = 0
            for x, y in DataLoader(data, sampler=sampler):
                correct += (model(x).argmax(1) == y).sum()
            print(correct / len(sampler))
            """,
            reason="each rank's counts stay on that rank",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            from torch.utils.data import DataLoader, DistributedSampler

            hvd.init()
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            correct = 0
            for x, y in DataLoader(data, sampler=sampler):
                correct += (model(x).argmax(1) == y).sum()
            print(hvd.allreduce(correct, op=hvd.Sum) / len(data))
            """,
            reason="the counts are summed",
        ),
    ),
)
