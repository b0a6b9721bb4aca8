"""What the script itself sends between the ranks (losses, counts of right answers), and what came out.

Gradients are not among them: DDP and Horovod's optimizer reduce those below these functions. Calls that
return before they are done are not noted: nothing is known yet of what they give.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import torch

from hvdkit.verify.hook.recorder import Recorder
from hvdkit.verify.hook.tensors import describe
from hvdkit.verify.records import Collective

# Function of torch.distributed: its kind, and which argument holds what came out.
TORCH = {
    "all_reduce": ("allreduce", "tensor"),
    "all_gather": ("allgather", "tensor_list"),
    "all_gather_into_tensor": ("allgather", "output_tensor"),
    "broadcast": ("broadcast", "tensor"),
    "reduce_scatter": ("reducescatter", "output"),
    "reduce_scatter_tensor": ("reducescatter", "output"),
    "all_to_all_single": ("alltoall", "output"),
}
# Function of Horovod that returns what came out: its kind.
HOROVOD = {
    "allreduce": "allreduce",
    "allreduce_": "allreduce",
    "allgather": "allgather",
    "broadcast": "broadcast",
    "broadcast_": "broadcast",
    "reducescatter": "reducescatter",
    "alltoall": "alltoall",
}


def watch_collectives(recorder: Recorder) -> None:
    """Note what the collectives of torch.distributed gave."""
    if not torch.distributed.is_available():
        return
    import torch.distributed as dist

    def watched(call: Callable[..., Any], kind: str, argument: str) -> Callable[..., Any]:
        @functools.wraps(call)
        def collective(*args: Any, **kwargs: Any) -> Any:
            work = call(*args, **kwargs)
            if work is None:
                note(recorder, kind, args[0] if args else kwargs[argument])
            return work

        return collective

    for name, (kind, argument) in TORCH.items():
        if hasattr(dist, name):
            made = watched(getattr(dist, name), kind, argument)
            setattr(dist, name, made)
            setattr(dist.distributed_c10d, name, made)


def watch_horovod_collectives() -> None:
    """Note what Horovod's collectives gave."""
    import horovod.torch.mpi_ops as ops

    def watched(call: Callable[..., Any], kind: str) -> Callable[..., Any]:
        @functools.wraps(call)
        def collective(*args: Any, **kwargs: Any) -> Any:
            result = call(*args, **kwargs)
            if sys._getframe(1).f_globals.get("__name__", "").startswith("horovod."):
                return result  # part of something larger, as broadcast_object
            note(Recorder.of_process(), kind, result[0] if isinstance(result, tuple) else result)
            return result

        return collective

    for name, kind in HOROVOD.items():
        setattr(ops, name, watched(getattr(ops, name), kind))


def note(recorder: Recorder, kind: str, result: Any) -> None:
    """Keep the norm of all tensors of a result."""
    parts = result if isinstance(result, (list, tuple)) else [result]
    squares = [describe("", part).norm ** 2 for part in parts]
    recorder.collectives.append(Collective(kind, sum(squares) ** 0.5))
