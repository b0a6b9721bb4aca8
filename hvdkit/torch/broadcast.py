"""broadcast(): all ranks start from the model and the optimizer of one rank.

Fresh, resumed on that rank alone, or after hvd.join(). Takes no step to create optimizer state, as Horovod's
broadcast_optimizer_state does: with weight decay that step changes the weights. Not for gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, overload

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from hvdkit.errors import HvdkitError
from hvdkit.torch import guards
from hvdkit.torch.engine import hvd
from hvdkit.torch.names import Models, modules_by_prefix, plain
from hvdkit.torch.tree import as_bytes, replace

__all__ = ["DifferentModelError", "broadcast"]

_NAME = "hvdkit.broadcast"  # explicit: Horovod's automatic names stop agreeing after hvd.join()


class DifferentModelError(HvdkitError):
    """A rank built another model or optimizer than the root rank."""


@dataclass(frozen=True)
class _Slot:
    """The place of a tensor in a state that travels without its tensors."""

    index: int
    shape: tuple[int, ...]
    dtype: torch.dtype


@dataclass(frozen=True)
class _Plan:
    """What the root rank is about to send: enough for another rank to compare and to receive."""

    model: list[str]
    optimizer: str
    state: Any
    slots: list[_Slot]


@overload
def broadcast(
    model: Models | None = None,
    optimizer: Optimizer | None = None,
    root_rank: int = 0,
    process_set: Any = hvd.global_process_set,
) -> None: ...
@overload
def broadcast(
    tensor: Tensor, root_rank: int, name: str | None = None, process_set: Any = hvd.global_process_set
) -> Tensor: ...
def broadcast(*args: Any, **kwargs: Any) -> Any:
    """Send parameters, buffers, extra state and optimizer state from `root_rank` to all ranks; returns None.

    model: a module, a list of modules or a dict of them; None sends the optimizer alone.
    optimizer: any torch.optim.Optimizer, wrapped or not. Its state goes through load_state_dict, on the
        root rank too: all ranks then hold what a resume from a file would have given them.
    root_rank: rank in the world, also with a process set.
    process_set: the ranks that take part; each of them calls this, with the same model and optimizer built.

    Raises DifferentModelError on all ranks, before anything is sent, where the ranks have built different
    ones, and NotInitializedError before hvd.init().

    Called with a tensor, `broadcast(tensor, root_rank, name=None, process_set=...)`, it is Horovod's own.
    """
    if "tensor" in kwargs or (args and isinstance(args[0], Tensor)):
        return hvd.broadcast(*args, **kwargs)
    return _broadcast_training(*args, **kwargs)


def _broadcast_training(
    model: Models | None = None,
    optimizer: Optimizer | None = None,
    root_rank: int = 0,
    process_set: Any = hvd.global_process_set,
) -> None:
    guards.check_initialized()
    is_root = hvd.rank() == root_rank
    modules = {} if model is None else modules_by_prefix(model)
    tensors = dict(chain.from_iterable(_tensors(prefix, module) for prefix, module in modules.items()))
    extra = [m for module in modules.values() for m in module.modules() if _has_extra_state(m)]
    mine, state_tensors = _describe(tensors, extra, optimizer, with_state=is_root)

    roots: _Plan = hvd.broadcast_object(mine, root_rank, name=f"{_NAME}.plan", process_set=process_set)
    _check_same(mine, roots, root_rank, process_set)
    if not is_root:
        state_tensors = [torch.empty(slot.shape, dtype=slot.dtype) for slot in roots.slots]
    _send([*tensors.values(), *state_tensors], root_rank, process_set)

    state = replace(roots.state, _Slot, lambda slot: state_tensors[slot.index])
    if optimizer is not None:
        optimizer.load_state_dict(state["optimizer"])
    if not is_root:
        for module, value in zip(extra, state["extra"]):
            module.set_extra_state(value)


def _tensors(prefix: str, module: nn.Module) -> list[tuple[str, Tensor]]:
    """Parameters and all buffers, persistent or not, under names that torch.compile does not change."""
    named = chain(module.named_parameters(), module.named_buffers())
    return [(plain(prefix + name), tensor) for name, tensor in named]


def _has_extra_state(module: nn.Module) -> bool:
    return type(module).get_extra_state is not nn.Module.get_extra_state


def _describe(
    tensors: dict[str, Tensor], extra: Sequence[nn.Module], optimizer: Optimizer | None, with_state: bool
) -> tuple[_Plan, list[Tensor]]:
    """What this rank has; with its state and the state's tensors, on the CPU, where it is the root."""
    found: list[Tensor] = []
    slots: list[_Slot] = []

    def take(tensor: Tensor) -> _Slot | Tensor:
        if tensor.layout is not torch.strided:
            return tensor.detach().cpu()  # the momentum of sparse gradients: travels inside the plan
        # On the CPU on all ranks: Horovod wants a tensor on the same kind of device everywhere.
        found.append(tensor.detach().cpu())
        slots.append(_Slot(len(slots), tuple(tensor.shape), tensor.dtype))
        return slots[-1]

    state = None
    if with_state:
        whole = {
            "optimizer": None if optimizer is None else optimizer.state_dict(),
            "extra": [module.get_extra_state() for module in extra],
        }
        state = replace(whole, Tensor, take)
    model = [f"{name}: {tensor.dtype} of shape {tuple(tensor.shape)}" for name, tensor in tensors.items()]
    model += [f"{type(module).__name__} with extra state" for module in extra]
    groups = [] if optimizer is None else [len(group["params"]) for group in optimizer.param_groups]
    kind = f"{type(optimizer).__name__} with param_groups of {groups} parameters"
    return _Plan(model, kind, state, slots), found


def _check_same(mine: _Plan, roots: _Plan, root_rank: int, process_set: Any) -> None:
    """Raises DifferentModelError on all ranks if any rank differs from the root."""
    pairs = [*zip(mine.model, roots.model), (mine.optimizer, roots.optimizer)]
    seen = next((f"{a}; rank {root_rank}: {b}" for a, b in pairs if a != b), "")
    if not seen and len(mine.model) != len(roots.model):
        seen = f"{len(mine.model)} tensors; rank {root_rank}: {len(roots.model)}"
    flag = torch.tensor([1 if seen else 0])
    differing = int(
        hvd.allreduce(flag, name=f"{_NAME}.differing", op=hvd.Sum, process_set=process_set).item()
    )
    if differing:
        raise DifferentModelError(
            f"rank {hvd.rank()}: {seen}" if seen else f"{differing} ranks differ from rank {root_rank}",
            why="a tensor can only be broadcast to a rank that has the same tensor",
            fix="build the same model and optimizer on all ranks before broadcast()",
        )


def _send(tensors: Sequence[Tensor], root_rank: int, process_set: Any) -> None:
    """Broadcast in place. Empty tensors have nothing to send."""
    under_way = []
    for index, tensor in enumerate(tensors):
        if tensor.numel():
            raw = as_bytes(tensor)
            handle = hvd.broadcast_async_(raw, root_rank, f"{_NAME}.{index}", process_set)
            under_way.append((tensor, raw, handle))
    for tensor, raw, handle in under_way:
        hvd.synchronize(handle)
        if raw.data_ptr() != tensor.data_ptr():
            with torch.no_grad():
                tensor.copy_(raw.view(tensor.dtype).view(tensor.shape))
