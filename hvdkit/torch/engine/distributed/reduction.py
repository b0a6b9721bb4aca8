"""allreduce, grouped or not, in place or not, and the form that is differentiable.

Tensors that are reduced together are sent as one: packed, reduced, and handed out as views. reducescatter is
an allreduce of which each rank keeps its part: not all backends have the operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

import torch
from torch import Tensor

from hvdkit.torch.engine.distributed.compression import Compression
from hvdkit.torch.engine.distributed.handles import Handle
from hvdkit.torch.engine.distributed.operations import Average, Sum, operation, scale
from hvdkit.torch.engine.distributed.world import (
    Channel,
    check_process_set,
    global_process_set,
    rank,
    script_channel,
    size,
)


def reduce_together(
    tensors: Sequence[Tensor], op: int, prescale: float, postscale: float, channel: Channel
) -> Handle:
    """Reduce tensors as one, out of place. The result is a list of them: views of fresh memory."""
    kinds: dict[tuple[torch.dtype, torch.device], list[int]] = {}
    for place, tensor in enumerate(tensors):
        if tensor.dtype is torch.bool:
            raise ValueError("Tensor type torch.BoolTensor is not supported.")
        kinds.setdefault((tensor.dtype, tensor.device), []).append(place)
    packed, works = [], []
    for places in kinds.values():
        flat = _packed([tensors[place].detach() for place in places])
        scale(flat, prescale)
        works.append(channel.all_reduce(flat, op))
        packed.append((places, flat))
    factor = postscale / size() if op == Average else postscale

    def finish() -> list[Tensor]:
        found: dict[int, Tensor] = {}
        for places, flat in packed:
            scale(flat, factor)
            if len(places) == 1:
                found[places[0]] = flat
                continue
            parts = torch.split(flat, [tensors[place].numel() for place in places])
            found |= {place: part.view(tensors[place].shape) for place, part in zip(places, parts)}
        return [found[place] for place in range(len(tensors))]

    return Handle(works, finish)


def _packed(tensors: list[Tensor]) -> Tensor:
    """The tensors one after another; a single one keeps its shape."""
    if len(tensors) == 1:
        return tensors[0].clone(memory_format=torch.contiguous_format)
    return torch.cat([tensor.reshape(-1) for tensor in tensors])


def _into(tensors: Sequence[Tensor]) -> Callable[[list[Tensor]], list[Tensor]]:
    def write(results: list[Tensor]) -> list[Tensor]:
        with torch.no_grad():
            for tensor, result in zip(tensors, results):
                tensor.copy_(result)
        return list(tensors)

    return write


def _only(results: list[Tensor]) -> Tensor:
    (result,) = results
    return result


def _start(tensors: Sequence[Tensor], op: int, prescale: float, postscale: float, process_set: Any) -> Handle:
    check_process_set(process_set)
    return reduce_together(tensors, op, prescale, postscale, script_channel())


def grouped_allreduce_async(
    tensors: Sequence[Tensor],
    average: bool | None = None,
    name: str | None = None,
    op: int | None = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: Any = global_process_set,
) -> Handle:
    """Reduce a list of tensors as one, out of place. name: for Horovod; here the order of calls counts."""
    return _start(tensors, operation(op, average), prescale_factor, postscale_factor, process_set)


def grouped_allreduce_async_(
    tensors: Sequence[Tensor],
    average: bool | None = None,
    name: str | None = None,
    op: int | None = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: Any = global_process_set,
) -> Handle:
    """Reduce a list of tensors as one, in place."""
    handle = _start(tensors, operation(op, average), prescale_factor, postscale_factor, process_set)
    return handle.then(_into(tensors))


def allreduce_async(
    tensor: Tensor,
    average: bool | None = None,
    name: str | None = None,
    op: int | None = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: Any = global_process_set,
) -> Handle:
    """Reduce a tensor, out of place."""
    handle = grouped_allreduce_async(
        [tensor], average, name, op, prescale_factor, postscale_factor, process_set
    )
    return handle.then(_only)


def allreduce_async_(
    tensor: Tensor,
    average: bool | None = None,
    name: str | None = None,
    op: int | None = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: Any = global_process_set,
) -> Handle:
    """Reduce a tensor, in place."""
    handle = grouped_allreduce_async_(
        [tensor], average, name, op, prescale_factor, postscale_factor, process_set
    )
    return handle.then(_only)


def allreduce_(
    tensor: Tensor,
    average: bool | None = None,
    name: str | None = None,
    op: int | None = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: Any = global_process_set,
) -> Tensor:
    """Reduce a tensor, in place, and return it."""
    handle = allreduce_async_(tensor, average, name, op, prescale_factor, postscale_factor, process_set)
    return handle.result()  # type: ignore[no-any-return]


def grouped_allreduce_(
    tensors: Sequence[Tensor],
    average: bool | None = None,
    name: str | None = None,
    op: int | None = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: Any = global_process_set,
) -> list[Tensor]:
    """Reduce a list of tensors as one, in place, and return them."""
    handle = grouped_allreduce_async_(
        tensors, average, name, op, prescale_factor, postscale_factor, process_set
    )
    return handle.result()  # type: ignore[no-any-return]


class _Allreduce(torch.autograd.Function):
    """The gradient of an allreduce is the same allreduce of the gradient."""

    @staticmethod
    def forward(ctx: Any, op: int, prescale: float, postscale: float, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.arguments = op, prescale, postscale
        results = reduce_together(tensors, op, prescale, postscale, script_channel()).result()
        # A result alone in its memory may be changed in place; views that a Function returns may not.
        return tuple(results) if len(results) == 1 else tuple(result.clone() for result in results)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        return (None, None, None, *_Allreduce.apply(*ctx.arguments, *grads))  # type: ignore[no-untyped-call]


def grouped_allreduce(
    tensors: Sequence[Tensor],
    average: bool | None = None,
    name: str | None = None,
    compression: Any = Compression.none,
    op: int | None = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: Any = global_process_set,
) -> list[Tensor]:
    """Reduce a list of tensors as one, out of place. Differentiable."""
    check_process_set(process_set)
    packed, contexts = zip(*(compression.compress(tensor) for tensor in tensors))
    results = _Allreduce.apply(operation(op, average), prescale_factor, postscale_factor, *packed)  # type: ignore[no-untyped-call]
    return [compression.decompress(result, context) for result, context in zip(results, contexts)]


def allreduce(
    tensor: Tensor,
    average: bool | None = None,
    name: str | None = None,
    compression: Any = Compression.none,
    op: int | None = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: Any = global_process_set,
) -> Tensor:
    """Reduce a tensor, out of place: the average over the ranks, or what `op` says. Differentiable."""
    return grouped_allreduce(
        [tensor], average, name, compression, op, prescale_factor, postscale_factor, process_set
    )[0]


def share_of(length: int) -> tuple[int, int]:
    """(first, length) of this rank's part of `length` rows: the first ranks have one more."""
    each, more = divmod(length, size())
    return rank() * each + min(rank(), more), each + (rank() < more)


def _own(result: Tensor) -> Tensor:
    return result.narrow(0, *share_of(len(result))).clone()


def grouped_reducescatter_async(
    tensors: Sequence[Tensor],
    name: str | None = None,
    op: int = Average,
    process_set: Any = global_process_set,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
) -> Handle:
    """Reduce a list of tensors; each rank's result is its part of the rows of each."""
    handle = _start(tensors, operation(op), prescale_factor, postscale_factor, process_set)
    return handle.then(lambda results: [_own(result) for result in results])


def reducescatter_async(
    tensor: Tensor,
    name: str | None = None,
    op: int = Average,
    process_set: Any = global_process_set,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
) -> Handle:
    """Reduce a tensor; each rank's result is its part of the rows."""
    handle = grouped_reducescatter_async([tensor], name, op, process_set, prescale_factor, postscale_factor)
    return handle.then(_only)


def gradient_factor(op: int, prescale: float, postscale: float) -> float:
    """What Horovod multiplies the gradient of a reducescatter by."""
    return prescale * postscale * (size() if op == Sum else 1)
