"""The library calls that give an object back: their first argument, wrapped, or what they were called on."""

from __future__ import annotations

MODEL_WRAPPERS = frozenset(
    (
        "torch.nn.parallel.DistributedDataParallel",
        "apex.parallel.DistributedDataParallel",
        "torch.nn.DataParallel",
        "torch.nn.SyncBatchNorm.convert_sync_batchnorm",
        "apex.parallel.convert_syncbn_model",
        "torch.compile",
        "torch.jit.script",
    )
)
WRAPPERS = MODEL_WRAPPERS.union(
    (
        "hvdkit.torch.distribute",
        "horovod.torch.DistributedOptimizer",
        "hvdkit.torch.DistributedOptimizer",
    )
)

# Methods of modules, tensors and optimizers that give back the object they were called on.
RETURNS_SELF = frozenset(
    [
        "to",
        "cuda",
        "cpu",
        "xpu",
        "train",
        "eval",
        "half",
        "float",
        "double",
        "bfloat16",
        "requires_grad_",
        "apply",
        "share_memory",
        "to_empty",
        "type",
    ]
)


def is_wrapper(name: str) -> bool:
    """Whether a library call gives its first argument back, wrapped."""
    return name in WRAPPERS
