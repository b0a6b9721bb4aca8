"""Horovod's reduce operations: numbers, torch.distributed's counterparts, scaling, and one line for each."""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor

from hvdkit.torch.engine.distributed.not_offered import refuse

Average, Sum, Adasum, Min, Max, Product = range(6)  # Horovod's numbers

# Average is Sum with a factor after it, as in Horovod: torch's own divides at a different moment.
REDUCTIONS = {
    Average: dist.ReduceOp.SUM,
    Sum: dist.ReduceOp.SUM,
    Min: dist.ReduceOp.MIN,
    Max: dist.ReduceOp.MAX,
    Product: dist.ReduceOp.PRODUCT,
}


def operation(op: int | None, average: bool | None = None) -> int:
    """The operation that a caller asks for: by `op`, by the older `average`, or Average without either.

    Raises NotOfferedError for Adasum, and ValueError where both are given or the number is none of them.
    """
    if op is not None and average is not None:
        raise ValueError("The op parameter supersedes average. Please provide only one of them.")
    if op is None:
        return Sum if average is False else Average
    if op == Adasum:
        refuse("Adasum", "use op=hvd.Average")
    if op not in REDUCTIONS:
        raise ValueError(f"{op} is not a reduce operation")
    return op


def scale(flat: Tensor, factor: float) -> None:
    """Multiply in place as Horovod does: integers in float64, and truncated towards zero."""
    if factor == 1.0:
        return
    if flat.is_floating_point() or flat.is_complex():
        flat.mul_(factor)
    else:
        flat.copy_(flat.double().mul_(factor))


def describe(op: int, flat: Tensor) -> str:
    """An allreduce in one line, from which a rank that has joined makes its zeros."""
    dtype = str(flat.dtype).rpartition(".")[2]
    return f"allreduce {op} {dtype} {flat.device.type} {flat.numel()}"


def zeros(line: str) -> tuple[int, Tensor] | None:
    """The operation that `describe` wrote down, and zeros to take part with; None for another collective."""
    words = line.split()
    if words[0] != "allreduce":
        return None
    op, dtype, device, length = words[1:]
    return int(op), torch.zeros(int(length), dtype=getattr(torch, dtype), device=device)
