"""HVD873: the ranks leave the training, or skip a batch, each by a number of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.apart import differs
from hvdkit.check.horovod import calls_in, mentioned, programs
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.loops import training_loops
from hvdkit.migrate.facts.collectives.ways_apart import WayApart, ways_apart, ways_around
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.tensorflow_programs import training_step_loops
from hvdkit.migrate.plan import Finding

MESSAGES = {
    True: "each rank leaves this loop based on its own value, and the others wait for it in their next average",
    False: "each rank skips a batch based on its own value, and the others wait for its gradients",
}
ADVICE = (
    "let all ranks decide by the same value: average it with hvd.allreduce(), or let rank 0 decide, "
    "hvd.broadcast_object(bool(...), root_rank=0), where every rank runs it"
)


def check(facts: Facts) -> Iterator[Finding]:
    asked: set[ast.expr] = set()
    for program in programs(facts):
        if mentioned(program, "elastic") or calls_in(facts, program, "join"):
            continue
        for way in _ways(facts, program):
            if way.test not in asked:
                asked.add(way.test)
                if differs(facts, way.names, way.test):
                    yield manual("HVD873", way.names, way.test, MESSAGES[way.leaves], ADVICE)


def _ways(facts: Facts, program: ProgramFacts) -> Iterator[WayApart]:
    loops = {loop.node for path in training_loops(facts).paths for loop in path.loops}
    loops |= {loop.node for loop in training_step_loops(facts)}
    for names in sorted(program.files, key=lambda names: str(names.source.path)):
        yield from ways_apart(facts, names, loops)
    yield from (way for way in ways_around(facts) if way.names in program.files)


RULE = Rule(
    id="HVD873",
    title="ranks leave the training loop based on their own values",
    what=(
        "Early stopping by a score of the rank's own share, a NaN that one rank sees, a time limit: one "
        "rank leaves the loop or skips a batch, the others wait for it in their next reduction, and the job "
        "hangs or fails."
    ),
    why="a break affects one process; Horovod does not compare control flow.",
    safety=(
        "Nothing is edited: how to reduce a score is for the author to decide. Reported only where "
        "the value comes from sharded data, from the clock or from one rank, and no collective "
        "makes it the same."
    ),
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch
            from torch.utils.data import DataLoader, DistributedSampler

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            for epoch in range(9):
                for x in DataLoader(data, sampler=sampler):
                    loss = model(x).sum()
                    loss.backward()
                    optimizer.step()
                if loss.item() < 0.1:
                    break
            """,
            reason="the loss is that of this rank's data",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch
            from torch.utils.data import DataLoader, DistributedSampler

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            for epoch in range(9):
                for x in DataLoader(data, sampler=sampler):
                    loss = model(x).sum()
                    loss.backward()
                    optimizer.step()
                if hvd.allreduce(loss).item() < 0.1:
                    break
            """,
            reason="the loss is averaged",
        ),
    ),
)
