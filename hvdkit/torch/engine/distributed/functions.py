"""What is made of the collectives: objects, and the state of models and optimizers."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from typing import Any, Callable

import torch
from torch import Tensor

from hvdkit.torch.engine.distributed.exchange import allgather, broadcast_, broadcast_async_
from hvdkit.torch.engine.distributed.optimizer import is_distributed
from hvdkit.torch.engine.distributed.world import global_process_set, rank

# Horovod's: it also takes lambdas and what is defined in __main__. Horovod installs it; alone, pickle does.
_pickle: Any = importlib.import_module("cloudpickle" if importlib.util.find_spec("cloudpickle") else "pickle")


def _packed(obj: object) -> Tensor:
    return torch.frombuffer(bytearray(_pickle.dumps(obj)), dtype=torch.uint8)


def _unpacked(raw: Tensor) -> Any:
    return _pickle.loads(raw.numpy().tobytes())


def broadcast_object(
    obj: Any, root_rank: int = 0, name: str | None = None, process_set: Any = global_process_set
) -> Any:
    """A rank's object on all ranks. The root gets its own back."""
    raw = _packed(obj) if rank() == root_rank else torch.empty(0, dtype=torch.uint8)
    length = broadcast_(torch.tensor([len(raw)]), root_rank, name, process_set)
    if rank() != root_rank:
        raw = torch.empty(int(length), dtype=torch.uint8)
    broadcast_(raw, root_rank, name, process_set)
    return obj if rank() == root_rank else _unpacked(raw)


def allgather_object(obj: Any, name: str | None = None) -> list[Any]:
    """The objects of all ranks, in the order of ranks."""
    raw = _packed(obj)
    lengths = allgather(torch.tensor([len(raw)])).tolist()
    return [_unpacked(part) for part in torch.split(allgather(raw), lengths)]


def broadcast_parameters(params: Any, root_rank: int) -> None:
    """Send a rank's tensors to all: a state_dict, or a list of tensors or of (name, tensor)."""
    if isinstance(params, dict):
        params = sorted(params.items())
    elif not isinstance(params, list):
        raise ValueError(f"invalid params of type: {type(params)}")
    tensors = [pair[1] if isinstance(pair, tuple) else pair for pair in params]
    for handle in [broadcast_async_(tensor, root_rank) for tensor in tensors]:
        handle.result()


def broadcast_optimizer_state(optimizer: torch.optim.Optimizer, root_rank: int, model: Any = None) -> None:
    """Send a rank's optimizer state and settings to all.

    As Horovod's, it takes a step with gradients of zero where there is no state: with weight decay that step
    changes the weights. hvd.broadcast(model, optimizer) does not.
    """
    if isinstance(optimizer, torch.optim.LBFGS):
        raise ValueError("cannot broadcast torch.optim.LBFGS state")
    if not optimizer.state_dict()["state"]:
        _create_state(optimizer, model)
    state = optimizer.state_dict()
    if not state["state"]:
        return
    entries = list(_entries(optimizer, state))
    broadcast_parameters([value for value, _ in entries if isinstance(value, Tensor)], root_rank)
    plain = [(value, write) for value, write in entries if not isinstance(value, Tensor)]
    received = broadcast_object([value for value, _ in plain], root_rank)
    for (_, write), value in zip(plain, received):
        write(value)


def _create_state(optimizer: torch.optim.Optimizer, model: Any) -> None:
    sparse = {
        id(parameter)
        for module in (model.modules() if model else ())
        if isinstance(module, torch.nn.Embedding) and module.sparse
        for parameter in module.parameters()
    }
    always = isinstance(optimizer, torch.optim.SparseAdam)
    for parameter in (each for group in optimizer.param_groups for each in group["params"]):
        if parameter.requires_grad:
            parameter.grad = torch.zeros_like(parameter)
            if always or (isinstance(optimizer, torch.optim.SGD) and id(parameter) in sparse):
                parameter.grad = parameter.grad.to_sparse()
    if is_distributed(optimizer):
        super(type(optimizer), optimizer).step()  # type: ignore[misc]
    else:
        optimizer.step()


def _entries(
    optimizer: torch.optim.Optimizer, state: dict[str, Any]
) -> Iterator[tuple[Any, Callable[[Any], None]]]:
    """Each setting and each value of the state, with what writes it."""
    for group, shown in zip(optimizer.param_groups, state["param_groups"]):
        for name, value in shown.items():
            if name != "params":
                yield value, lambda new, group=group, name=name: group.__setitem__(name, new)  # type: ignore[misc]
        for number, parameter in zip(shown["params"], group["params"]):
            own = optimizer.state.get(parameter, {})
            for name, value in state["state"].get(number, {}).items():
                yield value, lambda new, own=own, name=name: own.__setitem__(name, new)  # type: ignore[misc]
