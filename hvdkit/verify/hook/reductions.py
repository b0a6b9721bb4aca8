"""What the script itself reduces over the ranks (losses, counts of right answers), and what came out.

Gradients are not among them: DDP and Horovod's optimizer reduce those below these functions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from hvdkit.verify.hook.recorder import Recorder
from hvdkit.verify.hook.tensors import describe


def watch_reductions(recorder: Recorder) -> None:
    """Note the result of torch.distributed.all_reduce; of one that runs on, nothing is known yet."""
    if not torch.distributed.is_available():
        return
    import torch.distributed as dist

    reduce = dist.all_reduce

    @functools.wraps(reduce)
    def all_reduce(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        work = reduce(tensor, *args, **kwargs)
        if work is None:
            recorder.reductions.append(describe("", tensor).norm)
        return work

    dist.all_reduce = dist.distributed_c10d.all_reduce = all_reduce


def watch_horovod_reductions() -> None:
    """Note the results of Horovod's allreduce and allreduce_."""
    import horovod.torch.mpi_ops as ops

    def watched(reduce: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        @functools.wraps(reduce)
        def call(*args: Any, **kwargs: Any) -> torch.Tensor:
            result = reduce(*args, **kwargs)
            Recorder.of_process().reductions.append(describe("", result).norm)
            return result

        return call

    ops.allreduce, ops.allreduce_ = watched(ops.allreduce), watched(ops.allreduce_)
