"""HVD872: a schedule that watches a metric is given each rank's own."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import programs, wraps
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.loaders import every_loader
from hvdkit.migrate.facts.data.sharding import is_sharded
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.plan import Finding

PLATEAU = "torch.optim.lr_scheduler.ReduceLROnPlateau"
SHARES = ("allreduce", "allgather", "all_reduce", "all_gather", "broadcast_object", "broadcast(", "Metric")


def check(facts: Facts) -> Iterator[Finding]:
    for program in programs(facts):
        if any(word in names.source.text for names in program.files for word in SHARES):
            continue
        if not any(w.names in program.files for w in wraps(facts)) or not _all_sharded(facts, program):
            continue
        for names, call, receiver in facts.methods("step"):
            given = call.args or call.keywords
            if names in program.files and given and PLATEAU in facts.flow.made(names, receiver):
                message = "each rank's schedule watches its own metric: the learning rates diverge"
                advice = "give it the same number on every rank: hvd.allreduce(metric)"
                yield manual("HVD872", names, call, message, advice)


def _all_sharded(facts: Facts, program: ProgramFacts) -> bool:
    """Whether every loader gives each rank other data, so that no number is the same on two ranks."""
    loaders = [loader for loader in every_loader(facts) if loader.names in program.files]
    return bool(loaders) and all(is_sharded(facts, loader) for loader in loaders)


RULE = Rule(
    id="HVD872",
    title="ReduceLROnPlateau on each rank's own metric",
    what="One rank lowers its learning rate and another does not: from then on the same gradients produce different weights.",
    why="the schedule runs in every process, on that process's own measurements.",
    safety="Nothing is edited: how to reduce the metric is for the author to decide.",
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
            schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            for x in DataLoader(data, sampler=sampler):
                loss = model(x).sum()
                loss.backward()
                optimizer.step()
            schedule.step(loss)
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
            schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            for x in DataLoader(data, sampler=sampler):
                loss = model(x).sum()
                loss.backward()
                optimizer.step()
            schedule.step(hvd.allreduce(loss))
            """,
            reason="the loss is averaged",
        ),
    ),
)
