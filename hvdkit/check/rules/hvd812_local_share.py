"""HVD812: data is shared out by the rank within the node."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import argument, horovod_files
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.plan import Finding

WRONG = {"num_replicas": (1, "local_size", "size"), "rank": (2, "local_rank", "rank")}


def check(facts: Facts) -> Iterator[Finding]:
    files = horovod_files(facts)
    for site in facts.calls("torch.utils.data.DistributedSampler"):
        for parameter, (position, wrong, right) in WRONG.items() if site.names in files else ():
            given = argument(site.node, position, parameter)
            if given is not None and rank_kinds(facts).of(site.names, given) == {wrong}:
                text = f"{horovod_name(facts, site.names)}.{right}()"
                message = f"on two nodes, ranks with the same {wrong} train on the same samples"
                yield safe(
                    facts, "HVD812", site.names, given, message, edits.replace, site.names.source, given, text
                )


RULE = Rule(
    id="HVD812",
    title="data is shared out by the rank within the node",
    what=(
        "On one node all is well. On two, rank 0 of each node trains on the same samples, and with "
        "num_replicas=hvd.size() the rest of the data is never seen at all."
    ),
    why="hvd.local_rank() counts from zero on every node; hvd.rank() counts the ranks of the job.",
    safety="Safe: the rank of the job and its size are what a sampler needs; on one node they are the same numbers.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            from torch.utils.data import DistributedSampler

            hvd.init()
            local = hvd.local_rank()
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=local)
            """,
            """\
            import horovod.torch as hvd
            from torch.utils.data import DistributedSampler

            hvd.init()
            local = hvd.local_rank()
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch
            from torch.utils.data import DistributedSampler

            hvd.init()
            torch.cuda.set_device(hvd.local_rank())
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
            """,
            reason="devices are counted per node, data is not",
        ),
    ),
)
