"""Puts another reduction of gradients in the place of DDP's own, through its communication hooks."""

from __future__ import annotations

import functools
from typing import Any

import torch


def reduce_by(hook: Any) -> None:
    """Give each DistributedDataParallel this communication hook.

    A hook of the script's own stays, but for torch's fp16_compress_hook: it gives way, as DDP's average does.
    """
    if not torch.distributed.is_available():
        return
    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
    from torch.nn.parallel import DistributedDataParallel

    # DDP compares a hook's annotations with objects; here they are text.
    hook.__annotations__ = {}
    forward, register = DistributedDataParallel.forward, DistributedDataParallel.register_comm_hook

    @functools.wraps(forward)
    def with_hook(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not self._comm_hooks:
            register(self, self.process_group, hook)
        return forward(self, *args, **kwargs)  # type: ignore[no-untyped-call]

    @functools.wraps(register)
    def register_comm_hook(self: Any, state: object, chosen: Any) -> None:
        if chosen is fp16_compress_hook:
            state, chosen = self.process_group, hook
        register(self, state, chosen)

    DistributedDataParallel.forward = with_hook  # type: ignore[method-assign]
    DistributedDataParallel.register_comm_hook = register_comm_hook  # type: ignore[method-assign,assignment]
