"""By how much the learning rate grows with the ranks. `hvd` is the Horovod module of the framework."""

from __future__ import annotations

from typing import Any


def lr_factor(hvd: Any, *, on_gpu: bool, use_adasum: bool, batches_per_allreduce: int) -> int:
    """By how much the global batch, and so the learning rate, is larger than one process's.

    Average: world size x batches_per_allreduce. Adasum needs no scaling on CPU, and local_size x
    batches_per_allreduce where NCCL averages within a host first. Source: Horovod's Adasum guide and its
    examples/pytorch/pytorch_imagenet_resnet50.py.
    """
    if not use_adasum:
        return int(hvd.size()) * batches_per_allreduce
    if on_gpu and hvd.nccl_built():
        return int(hvd.local_size()) * batches_per_allreduce
    return 1
