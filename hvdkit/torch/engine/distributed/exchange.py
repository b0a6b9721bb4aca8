"""allgather, broadcast, alltoall and reducescatter, with the gradients that Horovod gives them; barrier.

Everything travels as bytes, so any dtype does. The ranks may have different numbers of rows: they exchange
it first, together with the dtype and the other dimensions. A difference in those is an error on all ranks,
where torch.distributed reads what it gets as what it expects.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, Callable

import torch
import torch.distributed as dist
from torch import Tensor

from hvdkit.torch.engine.distributed.compression import Compression
from hvdkit.torch.engine.distributed.handles import Handle, HorovodInternalError
from hvdkit.torch.engine.distributed.operations import Average
from hvdkit.torch.engine.distributed.reduction import (
    allreduce,
    allreduce_,
    gradient_factor,
    grouped_allreduce,
    grouped_reducescatter_async,
)
from hvdkit.torch.engine.distributed.world import (
    check_process_set,
    global_process_set,
    rank,
    script_channel,
    size,
)
from hvdkit.torch.tree import as_bytes


def barrier(process_set: Any = global_process_set) -> None:
    """Wait until all ranks are here."""
    check_process_set(process_set)
    allreduce_(torch.zeros(1))


def _gather_equal(tensor: Tensor, what: str) -> tuple[Any, list[Tensor]]:
    """Start to gather tensors of one size: the operation, and the tensors that it fills."""
    if size() == 1:
        return script_channel().run(what, _never), [tensor.clone()]
    found = [torch.empty_like(tensor) for _ in range(size())]
    return script_channel().run(what, lambda: dist.all_gather(found, tensor, async_op=True)), found


def _never() -> Any:
    raise AssertionError("a world of one issues no operation")


def _rows(tensors: Sequence[Tensor], what: str) -> list[list[int]]:
    """The rows that each rank has of each tensor. Raises HorovodInternalError where all else differs."""
    for tensor in tensors:
        if not tensor.dim():
            raise HorovodInternalError(f"{what} of a tensor without dimensions: it has no rows")
    mine = [(len(tensor), zlib.crc32(f"{tensor.dtype} {tensor.shape[1:]}".encode())) for tensor in tensors]
    work, found = _gather_equal(torch.tensor(mine, dtype=torch.int64), f"{what}, rows")
    work.wait()
    tables = torch.stack(found)
    if (tables[..., 1] != tables[:1, :, 1]).any():
        seen = ", ".join(f"{tensor.dtype} of shape {tuple(tensor.shape)}" for tensor in tensors)
        raise HorovodInternalError(
            f"{what}: the dtype or a dimension but the first differs between ranks; rank {rank()} has {seen}"
        )
    return tables[..., 0].tolist()


def _gather(tensors: Sequence[Tensor], process_set: Any) -> tuple[Handle, list[list[int]]]:
    """Start to concatenate each tensor over the ranks. The result is a list."""
    check_process_set(process_set)
    rows = _rows(tensors, "allgather")
    works, arriving = [], []
    for place, tensor in enumerate(tensors):
        most = max(table[place] for table in rows)
        raw = as_bytes(tensor)
        padded = raw.new_zeros(most * _width(tensor))
        padded[: raw.numel()] = raw
        work, found = _gather_equal(padded, "allgather")
        works.append(work)
        arriving.append(found)

    def finish() -> list[Tensor]:
        return [
            torch.cat(
                [
                    part[: table[place] * _width(tensor)]
                    .view(tensor.dtype)
                    .view(table[place], *tensor.shape[1:])
                    for table, part in zip(rows, parts)
                ]
            )
            for place, (tensor, parts) in enumerate(zip(tensors, arriving))
        ]

    return Handle(works, finish), rows


def _width(tensor: Tensor) -> int:
    """Bytes of a row."""
    return tensor.shape[1:].numel() * tensor.element_size()


def grouped_allgather_async(
    tensors: Sequence[Tensor], name: str | None = None, process_set: Any = global_process_set
) -> Handle:
    """Concatenate each of some tensors over the ranks, in the order of ranks. The ranks' rows may differ."""
    return _gather(tensors, process_set)[0]


def allgather_async(tensor: Tensor, name: str | None = None, process_set: Any = global_process_set) -> Handle:
    """Concatenate a tensor over the ranks, in the order of ranks. The ranks' rows may differ."""
    handle = _gather([tensor], process_set)[0]
    return handle.then(lambda results: results[0])


class _Allgather(torch.autograd.Function):
    """Horovod averages the gradients of what each rank got from a rank, where torch's own sums them."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> tuple[Tensor, ...]:
        handle, rows = _gather(tensors, global_process_set)
        ctx.parts = [
            (sum(table[place] for table in rows[: rank()]), len(tensor))
            for place, tensor in enumerate(tensors)
        ]
        return tuple(handle.result())

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        averages = grouped_allreduce(grads)
        return tuple(average.narrow(0, *part) for average, part in zip(averages, ctx.parts))


def grouped_allgather(
    tensors: Sequence[Tensor], name: str | None = None, process_set: Any = global_process_set
) -> list[Tensor]:
    """Concatenate each of some tensors over the ranks, in the order of ranks. Differentiable."""
    check_process_set(process_set)
    return list(_Allgather.apply(*tensors))  # type: ignore[no-untyped-call]


def allgather(tensor: Tensor, name: str | None = None, process_set: Any = global_process_set) -> Tensor:
    """Concatenate a tensor over the ranks, in the order of ranks; their rows may differ. Differentiable."""
    return grouped_allgather([tensor], name, process_set)[0]


def sparse_allreduce_async(
    tensor: Tensor, name: str | None, op: int, process_set: Any = global_process_set
) -> Callable[[], Tensor]:
    """The sum or average of sparse tensors: all ranks' rows, one after another. Call the result to wait."""
    rows = [tensor._indices().t().contiguous(), tensor._values()]
    handle = grouped_allgather_async(rows, name, process_set)

    def total() -> Tensor:
        indices, values = handle.result()
        if op == Average:
            values = values / size()
        return torch.sparse_coo_tensor(indices.t(), values, tensor.shape, device=tensor.device)

    return total


def _send(tensor: Tensor, root_rank: int, process_set: Any, in_place: bool) -> Handle:
    check_process_set(process_set)
    raw = as_bytes(tensor)
    shared = raw.data_ptr() == tensor.data_ptr()
    if not in_place:
        raw = raw.clone()
    works = []
    if raw.numel():
        works.append(script_channel().run("broadcast", lambda: dist.broadcast(raw, root_rank, async_op=True)))

    def finish() -> Tensor:
        if in_place and shared:
            return tensor
        received = raw.view(tensor.dtype).view(tensor.shape)
        if not in_place:
            return received
        with torch.no_grad():
            return tensor.copy_(received)

    return Handle(works, finish)


def broadcast_async(
    tensor: Tensor, root_rank: int, name: str | None = None, process_set: Any = global_process_set
) -> Handle:
    """Send a rank's tensor to all, out of place."""
    return _send(tensor, root_rank, process_set, in_place=False)


def broadcast_async_(
    tensor: Tensor, root_rank: int, name: str | None = None, process_set: Any = global_process_set
) -> Handle:
    """Send a rank's tensor to all, in place."""
    return _send(tensor, root_rank, process_set, in_place=True)


def broadcast_(
    tensor: Tensor, root_rank: int, name: str | None = None, process_set: Any = global_process_set
) -> Tensor:
    """Send a rank's tensor to all, in place, and return it."""
    return broadcast_async_(tensor, root_rank, name, process_set).result()  # type: ignore[no-any-return]


class _Broadcast(torch.autograd.Function):
    """The root's gradient is the average of all ranks', and the others have none."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, root_rank: int) -> Tensor:
        ctx.root_rank = root_rank
        return broadcast_async(tensor, root_rank).result()  # type: ignore[no-any-return]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        average = allreduce(grad)
        return (average if rank() == ctx.root_rank else average * 0), None


def broadcast(
    tensor: Tensor, root_rank: int, name: str | None = None, process_set: Any = global_process_set
) -> Tensor:
    """Send a rank's tensor to all, out of place. Differentiable."""
    check_process_set(process_set)
    return _Broadcast.apply(tensor, root_rank)  # type: ignore[no-any-return, no-untyped-call]


def alltoall_async(
    tensor: Tensor, splits: Any = None, name: str | None = None, process_set: Any = global_process_set
) -> Handle:
    """Send each rank its rows, and receive from each; the result is what came and how many rows from whom."""
    check_process_set(process_set)
    _rows([tensor], "alltoall")
    if splits is None:
        if len(tensor) % size():
            raise ValueError(f"alltoall without splits: {len(tensor)} rows for {size()} ranks")
        splits = [len(tensor) // size()] * size()
    mine = torch.as_tensor(splits, dtype=torch.int32).cpu()
    if len(mine) != size() or int(mine.sum()) > len(tensor):
        raise ValueError(f"alltoall: splits {mine.tolist()} for {size()} ranks and {len(tensor)} rows")
    work, tables = _gather_equal(mine, "alltoall, splits")
    work.wait()
    received = torch.stack(tables)[:, rank()].to(torch.int32)
    width = _width(tensor)
    sent = as_bytes(tensor)[: int(mine.sum()) * width]
    raw = sent.new_empty(int(received.sum()) * width)
    arriving, leaving = [[int(rows) * width for rows in table] for table in (received, mine)]
    if size() == 1:
        raw.copy_(sent)
    channel = script_channel()
    issued = channel.run(
        "alltoall", lambda: dist.all_to_all_single(raw, sent, arriving, leaving, async_op=True)
    )

    def finish() -> tuple[Tensor, Tensor]:
        return raw.view(tensor.dtype).view(int(received.sum()), *tensor.shape[1:]), received

    return Handle([issued], finish)


class _Alltoall(torch.autograd.Function):
    """The gradients go back to where the rows came from."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, splits: Any) -> tuple[Tensor, Tensor]:
        output, received = alltoall_async(tensor, splits).result()
        ctx.received = received
        ctx.mark_non_differentiable(received)
        return output, received

    @staticmethod
    def backward(ctx: Any, grad: Tensor, *_: Any) -> Any:
        return alltoall(grad, ctx.received)[0], None


def alltoall(
    tensor: Tensor, splits: Any = None, name: str | None = None, process_set: Any = global_process_set
) -> Any:
    """Send each rank its rows, and receive from each. With splits, also how many rows came from whom."""
    check_process_set(process_set)
    output, received = _Alltoall.apply(tensor, splits)  # type: ignore[no-untyped-call]
    return output if splits is None else (output, received)


class _Reducescatter(torch.autograd.Function):
    """The gradients of all parts, gathered."""

    @staticmethod
    def forward(ctx: Any, op: int, prescale: float, postscale: float, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.factor = gradient_factor(op, prescale, postscale)
        handle = grouped_reducescatter_async(tensors, None, op, global_process_set, prescale, postscale)
        return tuple(handle.result())

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        scaled = [grad if ctx.factor == 1 else grad * ctx.factor for grad in grads]
        return (None, None, None, *grouped_allgather(scaled))


def grouped_reducescatter(
    tensors: Sequence[Tensor],
    name: str | None = None,
    compression: Any = Compression.none,
    op: int = Average,
    process_set: Any = global_process_set,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
) -> list[Tensor]:
    """Reduce a list of tensors; each rank keeps its part of the rows of each. Differentiable."""
    check_process_set(process_set)
    packed, contexts = zip(*(compression.compress(tensor) for tensor in tensors))
    results = _Reducescatter.apply(op, prescale_factor, postscale_factor, *packed)  # type: ignore[no-untyped-call]
    return [compression.decompress(result, context) for result, context in zip(results, contexts)]


def reducescatter(
    tensor: Tensor,
    name: str | None = None,
    compression: Any = Compression.none,
    op: int = Average,
    process_set: Any = global_process_set,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
) -> Tensor:
    """Reduce a tensor; each rank keeps its part of the rows. Differentiable."""
    return grouped_reducescatter(
        [tensor], name, compression, op, process_set, prescale_factor, postscale_factor
    )[0]
