"""The methods that make an optimizer average its gradients, as horovod.torch.optimizer has them.

hvdkit.torch's DistributedOptimizer takes either engine's and lays its own over them: so the names and the
state are Horovod's. What differs is how gradients travel: in buckets, over the optimizer's own channel.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable

import torch
from torch import Tensor

from hvdkit.torch.engine.distributed.buckets import Bucket, Buckets
from hvdkit.torch.engine.distributed.exchange import sparse_allreduce_async
from hvdkit.torch.engine.distributed.operations import Average
from hvdkit.torch.engine.distributed.world import (
    check_process_set,
    global_process_set,
    lend_channel,
    size,
)

Sent = tuple[Any, Any]


def is_distributed(optimizer: torch.optim.Optimizer) -> bool:
    """Whether an optimizer has the methods below."""
    return type(optimizer).__module__ == __name__


class _DistributedOptimizer(torch.optim.Optimizer):
    """Copied into a class of the optimizer's own, whose base is the optimizer's class of before."""

    def __init__(
        self,
        params: Any,
        named_parameters: list[tuple[str, Tensor]],
        compression: Any,
        backward_passes_per_step: int = 1,
        op: int = Average,
        gradient_predivide_factor: float = 1.0,
        groups: Any = None,
        sparse_as_dense: bool = False,
        process_set: Any = global_process_set,
    ) -> None:
        """groups: for Horovod; buckets do what it is for."""
        super(type(self), self).__init__(params)  # type: ignore[call-arg]
        check_process_set(process_set)
        _check_groups(groups)
        self._compression = compression
        self._parameter_names = {parameter: name for name, parameter in named_parameters}
        self.backward_passes_per_step = backward_passes_per_step
        self._allreduce_delay = dict.fromkeys(self._parameter_names, backward_passes_per_step)
        self.op = op
        self.gradient_predivide_factor = gradient_predivide_factor
        self.sparse_as_dense = sparse_as_dense
        self.process_set = process_set
        self._groups = None
        self._handles: dict[Tensor, Sent] = {}
        self._grad_accs: list[Any] = []
        self._requires_update: set[Tensor] = set()
        self._synchronized = False
        self._should_synchronize = True
        self._buckets = Buckets(op, 1.0 / gradient_predivide_factor, gradient_predivide_factor)
        if size() > 1:
            self._buckets.use(lend_channel(self._buckets))
            self._register_hooks()

    def load_state_dict(self, *args: Any, **kwargs: Any) -> None:
        """torch's load_state_dict. What is under way is waited for first: the other ranks send their part."""
        if self._handles:
            self.synchronize()
        self._synchronized = False
        self._should_synchronize = True
        super(type(self), self).load_state_dict(*args, **kwargs)

    def set_backward_passes_per_step(self, passes: int) -> None:
        """The number of backward() calls whose gradients are summed before they are reduced."""
        self.backward_passes_per_step = passes
        self._allreduce_delay = dict.fromkeys(self._allreduce_delay, passes)

    def _register_hooks(self) -> None:
        for parameter in (each for group in self.param_groups for each in group["params"]):
            if parameter.requires_grad:
                self._requires_update.add(parameter)
                node = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
                node.register_hook(self._make_hook(parameter))
                self._grad_accs.append(node)  # nothing else keeps the node, and with it the hook, alive

    def _make_hook(self, p: Tensor) -> Callable[..., None]:
        def hook(*ignored: object) -> None:
            self._allreduce_delay[p] -= 1
            self._handles[p] = (
                self._allreduce_grad_async(p) if self._allreduce_delay[p] == 0 else (None, None)
            )

        return hook

    def _allreduce_grad_async(self, p: Tensor) -> Sent:
        """Send the gradient; zeros where this rank has none, as a different rank may have one."""
        if p.grad is None:
            p.grad = torch.zeros_like(p)
        gradient = p.grad
        if gradient.is_sparse:
            if not self.sparse_as_dense:
                return gradient, None  # sent by `synchronize`: only there is the order the same on all ranks
            gradient = gradient.to_dense()
        compressed, context = self._compression.compress(gradient)
        return self._buckets.ready(p, compressed, self.param_groups), context

    def synchronize(self) -> None:
        """Wait until every gradient is reduced."""
        for parameter in self._requires_update - self._handles.keys():
            self._handles[parameter] = None, None
        for parameter, (sent, _) in [*self._handles.items()]:
            if sent is None:
                self._handles[parameter] = self._allreduce_grad_async(parameter)
        self._buckets.flush()
        for parameter in (each for group in self.param_groups for each in group["params"]):
            if parameter in self._handles:
                self._allreduce_delay[parameter] = self.backward_passes_per_step
                self._receive(parameter, *self._handles[parameter])
        self._handles.clear()
        self._synchronized = True

    def _receive(self, parameter: Tensor, sent: Bucket | Tensor, context: Any) -> None:
        gradient = parameter.grad
        assert gradient is not None
        if isinstance(sent, Tensor):
            total = sparse_allreduce_async(sent, None, self.op)()
            gradient.zero_().add_(total)
            return
        result = self._compression.decompress(sent.result(parameter), context)
        if gradient.is_sparse:
            gradient.zero_().add_(result.to_sparse())
        else:
            gradient.set_(result)

    @contextmanager
    def skip_synchronize(self) -> Iterator[None]:
        """Inside, step() does not synchronize: synchronize() was called already."""
        self._should_synchronize = False
        try:
            yield
        finally:
            self._should_synchronize = True


def _check_groups(groups: Any) -> None:
    """Raises ValueError where Horovod does, so that a script does not break once it is back on Horovod."""
    if isinstance(groups, list):
        if not all(isinstance(each, Tensor) for group in groups for each in group):
            raise ValueError("groups must consist of torch.Tensor.")
    elif groups is not None and groups <= 0:
        raise ValueError("groups should be a positive integer or a list of list of torch.Tensor.")
