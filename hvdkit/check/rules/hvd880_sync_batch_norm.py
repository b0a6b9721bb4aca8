"""HVD880: torch's SyncBatchNorm in a Horovod job."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import horovod_files
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values import vocabulary as words


def check(facts: Facts) -> Iterator[Finding]:
    files = horovod_files(facts)
    if any(site.names in files for site in facts.calls(words.INIT)):
        return
    for site in facts.calls(*words.SYNC_BATCH_NORM, "torch.nn.SyncBatchNorm"):
        if site.names in files:
            message = "this layer synchronizes through torch.distributed, which was never started: it is plain BatchNorm"
            advice = "use hvd.SyncBatchNorm in its place, layer by layer, or plain BatchNorm"
            yield manual("HVD880", site.names, site.node, message, advice)


RULE = Rule(
    id="HVD880",
    title="torch.nn.SyncBatchNorm in a Horovod job",
    what=(
        "The layer does nothing of what its name says: each rank normalizes with its own batch, silently. Older "
        'versions of PyTorch raise "Default process group has not been initialized".'
    ),
    why="the layer reduces through torch.distributed; Horovod has a layer of its own, hvd.SyncBatchNorm, for GPUs.",
    safety="Nothing is edited: Horovod has no function that converts a model.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)
            """,
            reason="nobody started torch.distributed",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            norm = hvd.SyncBatchNorm(8)
            plain = torch.nn.BatchNorm2d(8)
            """,
            reason="neither asks torch.distributed",
        ),
    ),
)
