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
            message = "this layer synchronizes through torch.distributed, which is never initialized: it acts as plain BatchNorm"
            advice = "replace it with hvd.SyncBatchNorm, layer by layer, or plain BatchNorm"
            yield manual("HVD880", site.names, site.node, message, advice)


RULE = Rule(
    id="HVD880",
    title="torch.nn.SyncBatchNorm in a Horovod job",
    what=(
        "The layer does not synchronize: each rank silently normalizes with its own batch. Older "
        'versions of PyTorch raise "Default process group has not been initialized".'
    ),
    why="the layer reduces through torch.distributed; Horovod has its own layer, hvd.SyncBatchNorm, for GPUs.",
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
            reason="torch.distributed is not initialized",
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
            reason="neither uses torch.distributed",
        ),
    ),
)
