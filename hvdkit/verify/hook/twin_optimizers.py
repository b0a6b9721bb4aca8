"""Optimizers by the order in which they are constructed: the same number in a job and in its twins.

One that is made of another (hvd.DistributedOptimizer) has its parameters, and so its number.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any
from weakref import ReferenceType, ref

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from hvdkit.observe.names import optimizer_parameters
from hvdkit.observe.steps import inside_a_part

Tell = Callable[[torch.optim.Optimizer], None]


class Orders:
    """The numbers of a process's optimizers."""

    def __init__(self) -> None:
        self.known: list[list[ReferenceType[torch.Tensor]]] = []  # weak: a model of a fold before may be gone
        self.latest: list[torch.optim.Optimizer] = []

    def of(self, optimizer: torch.optim.Optimizer) -> int:
        """The number of one that was met, or a new one."""
        parameters = optimizer_parameters(optimizer)
        for order, known in enumerate(self.known):
            # By the first ones: a group may be added later.
            if known and parameters and all(held() is now for held, now in zip(known, parameters)):
                self.latest[order] = optimizer
                return order
        self.known.append([ref(parameter) for parameter in parameters])
        self.latest.append(optimizer)
        return len(self.known) - 1


def after_construction(tell: Tell) -> None:
    """Call back once an optimizer of any class is constructed."""
    build = torch.optim.Optimizer.__init__

    @functools.wraps(build)
    def init(self: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> None:
        build(self, *args, **kwargs)
        tell(self)

    torch.optim.Optimizer.__init__ = init  # type: ignore[method-assign]


def around_outermost(before: Tell, after: Tell) -> None:
    """Call back right around the script's steps: before what any optimizer in it applies, and after all."""
    depth = 0

    def begins(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        nonlocal depth
        depth += 1
        if depth == 1 and not inside_a_part():
            before(optimizer)

    def ends(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        nonlocal depth
        depth -= 1
        if depth == 0 and not inside_a_part():
            after(optimizer)

    register_optimizer_step_pre_hook(begins)
    register_optimizer_step_post_hook(ends)


def after_backward(tell: Callable[[], None]) -> None:
    """Call back after each backward() of the script; one inside another (checkpointing) is a part."""
    backward = torch.autograd.backward
    depth = 0

    @functools.wraps(backward)
    def watched(*args: Any, **kwargs: Any) -> None:
        nonlocal depth
        depth += 1
        try:
            backward(*args, **kwargs)
        finally:
            depth -= 1
        if depth == 0:
            tell()

    torch.autograd.backward = watched
