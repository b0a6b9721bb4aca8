"""HVD810: every rank trains on all of the data."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import programs
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.loaders import Loader
from hvdkit.migrate.facts.data.sharding import ITERABLE, is_sharded
from hvdkit.migrate.facts.data.shares_by_hand import shares_by_hand
from hvdkit.migrate.facts.data.training_loaders import training_loaders
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import unpacks


def check(facts: Facts) -> Iterator[Finding]:
    for program in programs(facts):
        for loader in training_loaders(facts, program):
            if _takes_all(facts, loader) and not shares_by_hand(facts, program):
                message = "every rank iterates over the whole data set: one epoch is hvd.size() epochs"
                advice = (
                    "give the loader sampler=DistributedSampler(dataset, num_replicas=hvd.size(), "
                    "rank=hvd.rank()) in place of shuffle=, and call sampler.set_epoch(epoch) in each epoch"
                )
                yield manual("HVD810", loader.names, loader.node, message, advice)


def _takes_all(facts: Facts, loader: Loader) -> bool:
    if loader.dataset is None or unpacks(loader.node) or is_sharded(facts, loader):
        return False
    if loader.sampler is not None or loader.batch_sampler is not None:
        return False
    values = facts.flow.values(loader.names, loader.dataset)
    known = bool(values) and all(value.kind in ("made", "object", "literal") for value in values)
    return known and not any(ITERABLE in facts.flow.bases(value) for value in values)


RULE = Rule(
    id="HVD810",
    title="every rank trains on the whole data set",
    what=(
        "Each rank draws every sample once per epoch, so the job sees every sample hvd.size() times: with N "
        "ranks an epoch takes as long as with one, and a schedule counted in epochs is N times too long."
    ),
    why="Horovod averages gradients and never splits data; that is the sampler's job.",
    safety=(
        "Nothing is edited: schedules and validation may be tuned to the current behaviour. Reported only "
        "where no rank is used for a slice, a file name or an argument anywhere in the program."
    ),
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            from torch.utils.data import DataLoader
            from torchvision.datasets import MNIST

            hvd.init()
            loader = DataLoader(MNIST("data"), batch_size=32, shuffle=True)
            for epoch in range(3):
                for x in loader:
                    model(x).sum().backward()
            """,
            reason="the loader shuffles the same data on every rank",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            from torch.utils.data import DataLoader, DistributedSampler
            from torchvision.datasets import MNIST

            hvd.init()
            data = MNIST("data")
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            loader = DataLoader(data, batch_size=32, sampler=sampler)
            test = DataLoader(MNIST("data", train=False))
            for epoch in range(3):
                sampler.set_epoch(epoch)
                for x in loader:
                    model(x).sum().backward()
            """,
            reason="the training data is sharded; every rank may iterate over all test data",
        ),
    ),
)
