"""Models that are moved to a pretended device lose what a real move takes from them.

A parameter that changes its device gets a new node for its gradient, and hooks on the old one are never
called again: those of Horovod's optimizer and of DistributedDataParallel are such. On the CPU nothing moves,
so the node is renewed in a way that does not change a bit: the data become a different type's and return.
"""

from __future__ import annotations

import functools
from typing import Any, Protocol

import torch
from torch.nn import Module, Parameter


class Asked(Protocol):
    """The pretended devices. asked: how often one was asked for. held: addresses of what is on one."""

    asked: int
    held: set[int]


def map_moves(devices: Asked) -> None:
    """Of modules, by cuda() and to()."""
    for name in ("cuda", "to"):
        _map(name, devices)


def _map(name: str, devices: Asked) -> None:
    move = getattr(Module, name)

    @functools.wraps(move)
    def moved(self: Module, *args: Any, **kwargs: Any) -> Any:
        outside = [p for p in self.parameters() if _is_plain(p) and p.data_ptr() not in devices.held]
        before = devices.asked
        result = move(self, *args, **kwargs)
        if devices.asked > before:
            for parameter in outside:
                _renew_node(parameter)
                devices.held.add(parameter.data_ptr())
        return result

    setattr(Module, name, moved)


def _is_plain(parameter: Parameter) -> bool:
    """It has data of its own: a lazy one, a traced one or one on the meta device has none yet."""
    return type(parameter) is Parameter and parameter.device.type == "cpu"


def _renew_node(parameter: Parameter) -> None:
    data = parameter.data
    parameter.data = data.new_empty(0, dtype=torch.float32 if data.dtype == torch.float64 else torch.float64)
    parameter.data = data
