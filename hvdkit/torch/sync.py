"""check_sync(): are the weights and the optimizer state bit for bit the same on all ranks?

For tests, and for a run in which something looks wrong. It repairs nothing: that is `broadcast`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import horovod.torch as hvd
import torch
from torch import Tensor
from torch.optim import Optimizer

from hvdkit.errors import HvdkitError
from hvdkit.torch import guards
from hvdkit.torch.names import Models, modules_by_prefix, parameter_names, plain
from hvdkit.torch.registry import parameters_of
from hvdkit.torch.tree import as_bytes, leaves

__all__ = ["OutOfSyncError", "check_sync"]

_NAME = "hvdkit.check_sync"
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


class OutOfSyncError(HvdkitError):
    """Ranks hold different values.

    name: the first tensor or setting that differs. ranks: those whose value is not that of the first rank.
    """

    name: str
    ranks: tuple[int, ...]


def check_sync(
    model: Models,
    optimizer: Optimizer | None = None,
    *,
    buffers: bool = False,
    process_set: Any = hvd.global_process_set,
) -> None:
    """Compare all ranks' parameters, and the optimizer's state and settings. Every rank calls it.

    buffers: compare these too. Off, as running statistics of BatchNorm differ between ranks by design.

    Raises OutOfSyncError on all ranks, naming the first value that differs and the ranks.
    """
    guards.check_initialized()
    mine = {name: digest.hex() for name, digest in _digests(model, optimizer, buffers)}
    whole = hashlib.sha256(json.dumps(mine).encode()).digest()
    wholes = _gather(whole, f"{_NAME}.whole", process_set)
    if len(set(wholes)) == 1:
        return
    # Only now each rank's own table is worth sending.
    tables = [json.loads(raw) for raw in _gather(json.dumps(mine).encode(), f"{_NAME}.table", process_set)]
    raise _difference(tables, process_set.ranks)


def _difference(tables: list[dict[str, str]], ranks: list[int]) -> OutOfSyncError:
    """The error for the first name that not all tables (one per rank) hold with the same digest."""
    names = dict.fromkeys(name for table in tables for name in table)
    differing = [name for name in names if len({table.get(name) for table in tables}) > 1]
    name, first = differing[0], tables[0].get(differing[0])
    others = tuple(rank for rank, table in zip(ranks, tables) if table.get(name) != first)
    error = OutOfSyncError(
        f"{name} on rank{'s' * (len(others) > 1)} {', '.join(map(str, others))} differs from rank {ranks[0]}"
        + (f", and {len(differing) - 1} more" if len(differing) > 1 else ""),
        why="the ranks no longer train one model",
        fix="hvd.broadcast(model, optimizer) once before training, after resume and after hvd.join(); "
        "train every parameter through hvd.DistributedOptimizer",
    )
    error.name, error.ranks = name, others
    return error


def _digests(model: Models, optimizer: Optimizer | None, buffers: bool) -> Iterator[tuple[str, bytes]]:
    named = parameter_names(model)
    for name, parameter in named:
        yield name, _digest(parameter)
    if buffers:
        for prefix, module in modules_by_prefix(model).items():
            for name, buffer in module.named_buffers():
                yield f"buffer {plain(prefix + name)}", _digest(buffer)
    if optimizer is not None:
        names = {id(parameter): name for name, parameter in named}
        order = [names.get(id(parameter), "?") for parameter in parameters_of(optimizer)]
        for path, leaf in leaves(optimizer.state_dict()):
            if isinstance(leaf, (Tensor, *_PLAIN)):
                yield _label(path, order), _digest(leaf)


def _label(path: tuple[Any, ...], order: list[str]) -> str:
    """A path in an optimizer's state_dict for people: `optimizer state exp_avg of layer.weight`."""
    if path[0] == "state" and isinstance(path[1], int) and path[1] < len(order):
        return f"optimizer state {'.'.join(map(str, path[2:]))} of {order[path[1]]} [{path[1]}]"
    return f"optimizer {'.'.join(map(str, path))}"


def _digest(leaf: Any) -> bytes:
    if isinstance(leaf, Tensor):
        raw: Any = as_bytes(leaf.to_dense()).cpu().numpy()
        return hashlib.sha256(raw).digest()
    return hashlib.sha256(repr(leaf).encode()).digest()


def _gather(data: bytes, name: str, process_set: Any) -> list[bytes]:
    """`data` of each rank of the process set, in the order of ranks."""
    local = torch.frombuffer(bytearray(data), dtype=torch.uint8)
    sizes = hvd.allgather(torch.tensor([len(data)]), name=f"{name}.size", process_set=process_set)
    everything = bytes(hvd.allgather(local, name=name, process_set=process_set).numpy())
    ends = torch.cumsum(sizes, 0).tolist()
    return [everything[end - size : end] for end, size in zip(ends, sizes.tolist())]
