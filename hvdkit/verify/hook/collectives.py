"""What the script itself sends between the ranks (losses, counts of right answers), from where, the result.

Gradients are not among them: DDP and Horovod's optimizer reduce those below these functions. What calls give
that return before they are done, or objects, is not known; that they were made is.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch

from hvdkit.observe.names import optimizer_parameters
from hvdkit.observe.records import Collective
from hvdkit.verify.hook.places import module_of, place_of
from hvdkit.verify.hook.recorder import Recorder
from hvdkit.verify.hook.tensors import describe

# Function of torch.distributed: its kind, and which argument holds what came out.
TORCH = {
    "all_reduce": ("allreduce", "tensor"),
    "all_gather": ("allgather", "tensor_list"),
    "all_gather_into_tensor": ("allgather", "output_tensor"),
    "broadcast": ("broadcast", "tensor"),
    "reduce_scatter": ("reducescatter", "output"),
    "reduce_scatter_tensor": ("reducescatter", "output"),
    "all_to_all_single": ("alltoall", "output"),
    # What came out is seen on one rank only, or is an object.
    "reduce": ("allreduce", ""),
    "gather": ("allgather", ""),
    "all_gather_object": ("allgather", ""),
    "gather_object": ("allgather", ""),
    "broadcast_object_list": ("broadcast", ""),
}
# Function of Horovod: its kind.
HOROVOD = {
    "allreduce": "allreduce",
    "allreduce_": "allreduce",
    "grouped_allreduce": "allreduce",
    "grouped_allreduce_": "allreduce",
    "allgather": "allgather",
    "broadcast": "broadcast",
    "broadcast_": "broadcast",
    "reducescatter": "reducescatter",
    "alltoall": "alltoall",
}
# Those that return before they are done.
HOROVOD_ASYNC = {
    "allreduce_async": "allreduce",
    "allreduce_async_": "allreduce",
    "grouped_allreduce_async": "allreduce",
    "grouped_allreduce_async_": "allreduce",
    "allgather_async": "allgather",
    "broadcast_async": "broadcast",
    "broadcast_async_": "broadcast",
}
# Of horovod.torch.functions: objects, and the whole state of an optimizer; a model's is an event.
HOROVOD_FUNCTIONS = {
    "allgather_object": "allgather",
    "broadcast_object": "broadcast",
    "broadcast_optimizer_state": "broadcast",
}
# Modules whose collectives are parts of something larger: a layer, a wrapper, a call that is noted itself.
PARTS = ("torch.nn.", "torch.optim.", "torch.distributed.", "horovod.", "hvdkit.verify.")


def watch_collectives(recorder: Recorder) -> None:
    """Note what the collectives of torch.distributed gave."""
    if not torch.distributed.is_available():
        return
    import torch.distributed as dist

    def watched(call: Callable[..., Any], kind: str, argument: str) -> Callable[..., Any]:
        @functools.wraps(call)
        def collective(*args: Any, **kwargs: Any) -> Any:
            work = call(*args, **kwargs)
            given = args[0] if args else kwargs.get(argument)
            note(recorder, sys._getframe(1), kind, given, done=work is None and bool(argument))
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

    for name, kind in {**HOROVOD, **HOROVOD_ASYNC}.items():
        if hasattr(ops, name):
            setattr(ops, name, _watched(getattr(ops, name), kind, name in HOROVOD))


def watch_horovod_objects() -> None:
    """Note that an object or a whole state was sent."""
    import horovod.torch.functions as functions

    for name, kind in HOROVOD_FUNCTIONS.items():
        setattr(functions, name, _watched(getattr(functions, name), kind, done=False))


def _watched(call: Callable[..., Any], kind: str, done: bool) -> Callable[..., Any]:
    @functools.wraps(call)
    def collective(*args: Any, **kwargs: Any) -> Any:
        result = call(*args, **kwargs)
        shown = result if done else args[0] if args else None
        if isinstance(shown, tuple):
            shown = shown[0]  # beside the sizes of its parts
        note(Recorder.of_process(), sys._getframe(1), kind, shown, done)
        return result

    return collective


def note(recorder: Recorder, caller: FrameType, kind: str, result: Any, done: bool) -> None:
    """Keep the norm of all tensors of a result. done: it is there already."""
    if module_of(caller).startswith(PARTS) and not module_of(caller).startswith("torch.distributed.nn"):
        return
    parts = list(result) if isinstance(result, (list, tuple)) else [result]
    tensors = [part for part in parts if isinstance(part, torch.Tensor)]
    squares = [describe("", part).norm ** 2 for part in tensors] if done else [math.nan]
    held = _in_backward() or any(_is_state(recorder, part) for part in tensors)
    recorder.collectives.append(Collective(kind, sum(squares) ** 0.5, place_of(caller), held))


def _in_backward() -> bool:
    """Whether this call comes from the autograd engine, as those of a communication hook do."""
    current = getattr(torch._C, "_current_graph_task_id", None)  # torch 2.1 and later
    return current is not None and current() != -1


def _is_state(recorder: Recorder, tensor: torch.Tensor) -> bool:
    """Whether a tensor is a parameter's or its gradient's memory, or all gradients in a row."""
    if not tensor.numel() or tensor.layout is not torch.strided:
        return False
    place = tensor.untyped_storage().data_ptr()
    for optimizer in recorder.made:
        whole: dict[torch.dtype, int] = {}
        for parameter in optimizer_parameters(optimizer):
            for held in (parameter, parameter.grad):
                if held is not None and held.layout is torch.strided:
                    if held.untyped_storage().data_ptr() == place:
                        return True
            if parameter.grad is not None:
                whole[parameter.dtype] = whole.get(parameter.dtype, 0) + parameter.numel()
        if (
            tensor.dim() == 1
            and tensor.numel() > 1
            and tensor.numel() in (*whole.values(), sum(whole.values()))
        ):
            return True
    return False
