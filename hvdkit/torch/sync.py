"""check_sync(): are the weights and the optimizer state bit for bit the same on all ranks?

For tests, and for a run in which something looks wrong; HVDKIT_CHECK_SYNC calls it in any script. It repairs
nothing: that is `broadcast`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from hvdkit.observe.names import models_of
from hvdkit.sync.collect import collect
from hvdkit.sync.disagreement import OutOfSyncError, differing, in_words, out_of_sync
from hvdkit.sync.evidence import Evidence
from hvdkit.sync.history import HISTORY
from hvdkit.torch import guards, registry
from hvdkit.torch.engine import hvd
from hvdkit.torch.names import Models, modules_by_prefix, parameter_names, plain
from hvdkit.torch.reduction import is_adasum
from hvdkit.torch.tree import as_bytes, leaves

__all__ = ["OutOfSyncError", "check_sync"]

_NAME = "hvdkit.check_sync"
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_WORDS = 4  # 64-bit words of a SHA-256
_SHOWN = 3
_WORD, _CHUNK = 8, 1 << 20  # bytes, words
_MIX = 0x9E3779B97F4A7C15  # odd

Named = list[tuple[str, Tensor]]


def check_sync(
    model: Models,
    optimizer: Optimizer | None = None,
    *,
    buffers: bool = False,
    process_set: Any = hvd.global_process_set,
) -> tuple[str, ...]:
    """Compare all ranks' parameters, buffers, optimizer state and settings. Each rank calls it.

    Under Adasum each rank's optimizer state is its own by design and not compared.

    buffers: buffers that differ are an error, too. By default they are not, as running statistics of
        BatchNorm differ between ranks by design.

    Returns one sentence for each thing that is no error: buffers that differ, ranks that have joined.
    Raises OutOfSyncError on all ranks, naming the first value that differs, the ranks and the likely cause.
    """
    guards.check_initialized()
    _, notes = _compare(parameter_names(model), _buffers(model), optimizer, buffers, process_set, "")
    return notes


def compare_optimizer(optimizer: Optimizer, when: str) -> tuple[int, tuple[str, ...]]:
    """check_sync for the models that an optimizer trains. when: names the moment in messages.

    Returns the rank that should tell of it, and what check_sync returns.
    """
    named, buffers = trained_by(optimizer)
    process_set = getattr(optimizer, "process_set", hvd.global_process_set)
    return _compare(named, buffers, optimizer, False, process_set, when)


def trained_by(optimizer: Optimizer) -> tuple[Named, Named]:
    """Parameters and buffers of the models that an optimizer trains, and what else it trains."""
    modules = models_of(optimizer)
    model: Models = modules[0] if len(modules) == 1 else modules
    named = parameter_names(model)
    known = {id(parameter) for _, parameter in named}
    trained = enumerate(registry.parameters_of(optimizer))
    named += [(f"parameter {place}", tensor) for place, tensor in trained if id(tensor) not in known]
    return named, _buffers(model)


def _buffers(model: Models) -> Named:
    return [
        (plain(prefix + name), buffer)
        for prefix, module in modules_by_prefix(model).items()
        for name, buffer in module.named_buffers()
    ]


def _compare(
    named: Named,
    named_buffers: Named,
    optimizer: Optimizer | None,
    strict: bool,
    process_set: Any,
    when: str,
) -> tuple[int, tuple[str, ...]]:
    values = {name: digest.hex() for name, digest in digests(named, optimizer)}
    buffers = {f"buffer {name}": _digest(buffer).hex() for name, buffer in named_buffers}
    rows = _rows(values, buffers, f"{_NAME}.{when}", process_set)
    moment = f"after {when}: " if when else ""
    absent = [rank for rank, row in zip(process_set.ranks, rows) if not row[0]]
    teller = min(set(process_set.ranks) - set(absent))
    if absent:
        return teller, (f"{moment}not compared: {in_words(absent)} called hvd.join()",)
    if len(set(rows)) == 1:
        _note_agreement(optimizer)
        return teller, ()
    # Only now each rank's own tables are worth sending.
    covers_all = optimizer is not None and registry.holds(optimizer)
    mine = {**values, **buffers}, asdict(collect(named, optimizer, covers_all))
    gathered = [json.loads(raw) for raw in _gather(json.dumps(mine).encode(), f"{_NAME}.table", process_set)]
    tables = [table for table, _ in gathered]
    names = differing(tables)
    wrong = names if strict else [name for name in names if name not in buffers]
    if wrong:
        evidence = [Evidence(**each) for _, each in gathered]
        raise out_of_sync(wrong, tables, evidence, process_set.ranks, moment)
    _note_agreement(optimizer)
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if names[_SHOWN:] else "")
    return teller, (
        f"{moment}{shown}: the ranks differ; running statistics do so by design, and rank 0's are saved",
    )


def _note_agreement(optimizer: Optimizer | None) -> None:
    if optimizer is not None:
        HISTORY.agreed.add(optimizer)


def _rows(
    values: dict[str, str], buffers: dict[str, str], name: str, process_set: Any
) -> list[tuple[int, ...]]:
    """Each rank's 1 and two digests; zeros for a rank that has joined, which only an allreduce can tell."""
    rows = torch.zeros(process_set.size(), 1 + 2 * _WORDS, dtype=torch.int64)
    digest = b"".join(hashlib.sha256(json.dumps(table).encode()).digest() for table in (values, buffers))
    mine = process_set.ranks.index(hvd.rank())
    rows[mine, 0] = 1
    rows[mine, 1:] = torch.frombuffer(bytearray(digest), dtype=torch.int64)
    total = hvd.allreduce(rows, name=name, op=hvd.Sum, process_set=process_set)
    return [tuple(row) for row in total.tolist()]


def digests(named: Named, optimizer: Optimizer | None) -> Iterator[tuple[str, bytes]]:
    """A digest of each parameter, and of what the optimizer keeps that is the same on all ranks by design."""
    for name, parameter in named:
        yield name, _digest(parameter)
    if optimizer is not None:
        names = {id(parameter): name for name, parameter in named}
        order = [names.get(id(parameter), "?") for parameter in registry.parameters_of(optimizer)]
        state = optimizer.state_dict()
        if is_adasum(optimizer):
            # It combines what each rank's own optimizer makes of its own gradients: averages of these differ.
            del state["state"]
        for path, leaf in leaves(state):
            if isinstance(leaf, (Tensor, *_PLAIN)):
                yield _label(path, order), _digest(leaf)


def _label(path: tuple[Any, ...], order: list[str]) -> str:
    """A path in an optimizer's state_dict for people: `optimizer state exp_avg of layer.weight`."""
    if path[0] == "state" and isinstance(path[1], int) and path[1] < len(order):
        return f"optimizer state {'.'.join(map(str, path[2:]))} of {order[path[1]]} [{path[1]}]"
    return f"optimizer {'.'.join(map(str, path))}"


def _digest(leaf: Any) -> bytes:
    if isinstance(leaf, Tensor):
        return _fold(as_bytes(leaf.to_dense())).to_bytes(8, "little")
    return hashlib.sha256(repr(leaf).encode()).digest()[:8]


def _fold(raw: Tensor) -> int:
    """64 bits of some bytes, computed where they are: a GPU is not asked for gigabytes.

    Each word counts by its place with an odd weight modulo 2**64, so that one that differs always shows.
    """
    if raw.data_ptr() % _WORD or raw.numel() % _WORD:
        raw = torch.nn.functional.pad(raw, (0, -raw.numel() % _WORD)).clone()
    digest = raw.numel()
    words = raw.view(torch.int64)
    for begin in range(0, len(words), _CHUNK):
        chunk = words[begin : begin + _CHUNK]
        weights = torch.arange(len(chunk), device=raw.device).mul_(2).add_(1)
        digest = (digest * _MIX + int((chunk * weights).sum())) % 2**64
    return digest


def _gather(data: bytes, name: str, process_set: Any) -> list[bytes]:
    """`data` of each rank of the process set, in the order of ranks."""
    local = torch.frombuffer(bytearray(data), dtype=torch.uint8)
    sizes = hvd.allgather(torch.tensor([len(data)]), name=f"{name}.size", process_set=process_set)
    everything = bytes(hvd.allgather(local, name=name, process_set=process_set).numpy())
    ends = torch.cumsum(sizes, 0).tolist()
    return [everything[end - size : end] for end, size in zip(ends, sizes.tolist())]
