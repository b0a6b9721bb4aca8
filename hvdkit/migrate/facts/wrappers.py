"""The library calls that give their first argument back, wrapped."""

from __future__ import annotations

WRAPPERS = frozenset(
    (
        "torch.nn.parallel.DistributedDataParallel",
        "apex.parallel.DistributedDataParallel",
        "torch.nn.DataParallel",
        "torch.nn.SyncBatchNorm.convert_sync_batchnorm",
        "apex.parallel.convert_syncbn_model",
        "torch.compile",
        "torch.jit.script",
        "hvdkit.torch.distribute",
        "horovod.torch.DistributedOptimizer",
        "hvdkit.torch.DistributedOptimizer",
    )
)


def is_wrapper(name: str) -> bool:
    """Whether a library call gives its first argument back, wrapped."""
    return name in WRAPPERS
