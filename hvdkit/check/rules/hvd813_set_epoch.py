"""HVD813: the sampler never hears of the epochs, so that all of them have one order."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import horovod_files
from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.epochs import epoch_loops, epoch_number, told_epoch
from hvdkit.migrate.facts.facts import Loader
from hvdkit.migrate.facts.loops import Loop
from hvdkit.migrate.facts.sharding import epoch_calls, in_order
from hvdkit.migrate.facts.spelling import spelled
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    files = horovod_files(facts)
    for loader in facts.loaders:
        if loader.names not in files or not _has_sampler(facts, loader) or in_order(facts, loader):
            continue
        loops = epoch_loops(facts, loader)
        if facts.training(loader) and not epoch_calls(facts, loader):
            for loop in loops if not any(told_epoch(facts, loop) for loop in loops) else ():
                yield _finding(facts, loader, loop)


def _has_sampler(facts: Facts, loader: Loader) -> bool:
    values = facts.flow.values(loader.names, loader.sampler)
    return bool(values) and all(value.name in words.SAMPLERS for value in values)


def _finding(facts: Facts, loader: Loader, loop: Loop) -> Finding:
    message = "the sampler never hears of the epoch: every epoch has the same order"
    number = epoch_number(loop)
    name = spelled(facts.flow, loop.names, loop.node, [loader.value])
    if number is None or name is None:
        advice = "call loader.sampler.set_epoch(epoch) at the start of each epoch"
        return facts.manual("HVD813", loop.names, loop.node, message, advice)
    line = f"{name}.sampler.set_epoch({number})"
    return facts.safe(
        "HVD813", loop.names, loop.node, message, edits.at_start, loop.names, loop.node.body, [line]
    )


RULE = Rule(
    id="HVD813",
    title="set_epoch is never called",
    what="Each rank sees the same samples in the same order in every epoch; shuffle=True shuffles once.",
    why="DistributedSampler shuffles by its seed and the number of the epoch, and that number stays 0 unless told.",
    safety="Safe: it is what the sampler's documentation asks for. The order of the samples changes, for the better.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            from torch.utils.data import DataLoader, DistributedSampler

            hvd.init()
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            loader = DataLoader(data, sampler=sampler)
            for epoch in range(3):
                for x in loader:
                    model(x).sum().backward()
            """,
            """\
            import horovod.torch as hvd
            from torch.utils.data import DataLoader, DistributedSampler

            hvd.init()
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            loader = DataLoader(data, sampler=sampler)
            for epoch in range(3):
                loader.sampler.set_epoch(epoch)
                for x in loader:
                    model(x).sum().backward()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            from torch.utils.data import DataLoader, DistributedSampler

            def train(epoch):
                sampler.set_epoch(epoch)
                for x in loader:
                    model(x).sum().backward()

            hvd.init()
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            loader = DataLoader(data, sampler=sampler)
            for epoch in range(3):
                train(epoch)
            """,
            reason="it is called, in the function of one epoch",
        ),
        Keep(
            """\
            import horovod.torch as hvd
            from torch.utils.data import DataLoader, DistributedSampler

            hvd.init()
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=False)
            for epoch in range(3):
                for x in DataLoader(data, sampler=sampler):
                    model(x).sum().backward()
            """,
            reason="the sampler does not shuffle",
        ),
    ),
)
