"""HVD814: shuffle=True with a sampler."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import horovod_files
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.loaders import every_loader
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values import vocabulary as words


def check(facts: Facts) -> Iterator[Finding]:
    files = horovod_files(facts)
    for loader in every_loader(facts):
        said = next((k for k in loader.node.keywords if k.arg == "shuffle"), None)
        if loader.names not in files or said is None or loader.sampler is None:
            continue
        values = facts.flow.values(loader.names, loader.sampler)
        sure = bool(values) and all(value.name in words.SAMPLERS for value in values)
        if sure and isinstance(said.value, ast.Constant) and said.value.value is True:
            message = "shuffle=True with a sampler: DataLoader raises ValueError"
            yield safe(
                facts,
                "HVD814",
                loader.names,
                loader.node,
                message,
                edits.drop_argument,
                loader.names.source,
                loader.node,
                said,
            )


RULE = Rule(
    id="HVD814",
    title="shuffle=True with a sampler",
    what='The loader raises "sampler option is mutually exclusive with shuffle".',
    why="the sampler decides the order; DistributedSampler shuffles by default.",
    safety="Safe: the argument is removed, and the sampler shuffles.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            from torch.utils.data import DataLoader, DistributedSampler

            hvd.init()
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            loader = DataLoader(data, batch_size=8, shuffle=True, sampler=sampler)
            """,
            """\
            import horovod.torch as hvd
            from torch.utils.data import DataLoader, DistributedSampler

            hvd.init()
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            loader = DataLoader(data, batch_size=8, sampler=sampler)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            from torch.utils.data import DataLoader, DistributedSampler

            hvd.init()
            sampler = DistributedSampler(data) if hvd.size() > 1 else None
            loader = DataLoader(data, shuffle=sampler is None, sampler=sampler)
            plain = DataLoader(data, shuffle=True)
            """,
            reason="only one of the two is given at a time",
        ),
    ),
)
