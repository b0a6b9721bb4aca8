"""Which optimizers of this process reduce gradients right now.

Horovod's gradient hooks outlive the variable that held the optimizer, and its tensor names are one space
for the whole job: two optimizers must share neither parameters nor names. Not for reducing anything.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from weakref import WeakSet

from torch import Tensor
from torch.optim import Optimizer

from hvdkit.torch.guards import AlreadyDistributedError

_LIVE: WeakSet[Optimizer] = WeakSet()


def add(optimizer: Optimizer) -> None:
    """From now on `optimizer` owns its parameters and names."""
    _LIVE.add(optimizer)


def remove(optimizer: Optimizer) -> None:
    """`optimizer` gives its parameters and names back."""
    _LIVE.discard(optimizer)


def holds(optimizer: Optimizer) -> bool:
    """Whether `optimizer` came out of hvdkit's DistributedOptimizer and still reduces."""
    return optimizer in _LIVE


def parameters_of(optimizer: Optimizer) -> Iterator[Tensor]:
    """The parameters of all groups, in order."""
    for group in optimizer.param_groups:
        yield from group["params"]


def check_free(optimizer: Optimizer, parameters: Sequence[Tensor]) -> None:
    """Raises AlreadyDistributedError when another live DistributedOptimizer reduces one of `parameters`."""
    owner = _owner(optimizer, parameters)
    if owner is None:
        return
    # An optimizer that nobody holds any more sits in a reference cycle with its hooks. Collecting it here
    # keeps the answer the same on all ranks, whenever each rank's collector last ran.
    gc.collect()
    owner = _owner(optimizer, parameters)
    if owner is not None:
        raise AlreadyDistributedError(
            f"parameters of this {type(optimizer).__name__} are already reduced by another "
            f"DistributedOptimizer ({type(owner).__name__})",
            why="both would reduce the same gradients under each backward()",
            fix="give each optimizer its own parameters, or hvd.unwrap(old_optimizer) first",
        )


def distinct(named: Sequence[tuple[str, Tensor]]) -> list[tuple[str, Tensor]]:
    """`named`, with a prefix when a live optimizer uses one of the names (a GAN's two `weight`s)."""
    if _taken() & {name for name, _ in named}:
        gc.collect()  # see check_free
    taken = _taken()
    prefix, number = "", 1
    while taken & {prefix + name for name, _ in named}:
        number += 1
        prefix = f"optimizer{number}."
    return [(prefix + name, parameter) for name, parameter in named]


def _owner(optimizer: Optimizer, parameters: Iterable[Tensor]) -> Optimizer | None:
    ids = {id(parameter) for parameter in parameters}
    others = (other for other in _LIVE if other is not optimizer)
    return next((o for o in others if any(id(p) in ids for p in parameters_of(o))), None)


def _taken() -> set[str]:
    return {name for other in _LIVE for name in other._parameter_names.values()}  # type: ignore[attr-defined]
