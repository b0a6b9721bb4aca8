"""The gradients that a rank computes itself, before they are reduced; and the last factor of a loss.

What an optimizer uses can be held against the mean of them, whatever the ranks were given to train on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from hvdkit.observe.names import optimizer_parameters
from hvdkit.verify.hook.tensors import kept_values

Named = list[tuple[str, torch.Tensor]]
Kept = dict[str, torch.Tensor]


class OwnGradients:
    """left: for so many steps they are kept."""

    def __init__(self, left: int) -> None:
        self.left = left
        self.watched: dict[int, torch.Tensor] = {}  # kept alive, so that ids stay unique
        self.own: dict[int, torch.Tensor] = {}
        self.reduced: dict[int, torch.Tensor] = {}

    def watch(self, optimizer: torch.optim.Optimizer) -> None:
        """Keep what backward() accumulates for these parameters. An optimizer of Horovod that wraps this one
        comes later, and its hooks after ours."""
        if self.left <= 0 or not hasattr(torch.Tensor, "register_post_accumulate_grad_hook"):
            return  # before torch 2.1 nothing is kept
        for parameter in optimizer_parameters(optimizer):
            if parameter.requires_grad and parameter.is_leaf and id(parameter) not in self.watched:
                self.watched[id(parameter)] = parameter
                parameter.register_post_accumulate_grad_hook(self._keep)  # type: ignore[no-untyped-call]

    def note_reduced(self, parameters: Iterable[torch.Tensor]) -> None:
        """Gradients are about to be clipped or unscaled: what is reduced is what they are now."""
        if self.left > 0:
            for parameter in parameters:
                if parameter.grad is not None and id(parameter) in self.own:
                    self.reduced.setdefault(id(parameter), kept_values(parameter.grad))

    def take(self, named: Named) -> tuple[Kept, Kept]:
        """Those of a step that is complete, by name: each rank's own, and what is known to come of them."""
        own = {name: self.own.pop(id(p)) for name, p in named if id(p) in self.own}
        reduced = {name: self.reduced.pop(id(p)) for name, p in named if id(p) in self.reduced}
        return own, reduced

    def _keep(self, parameter: torch.Tensor) -> None:
        if self.left > 0 and parameter.grad is not None:
            self.own[id(parameter)] = kept_values(parameter.grad)


def last_factor(loss: torch.Tensor) -> float:
    """The product of the numbers that a loss was multiplied by, or divided by, after all else."""
    node: Any = loss.grad_fn
    factor = 1.0
    while node is not None and node.name() in ("DivBackward0", "MulBackward0"):
        before, other = (following[0] for following in node.next_functions)
        divides = node.name() == "DivBackward0"
        if before is not None and other is None:
            number = node._saved_other
        elif other is not None and before is None and not divides:
            before, number = other, node._saved_self
        else:
            break  # by something that is trained, too
        if not isinstance(number, torch.Tensor) or number.numel() != 1 or not number:
            break
        factor = factor / float(number) if divides else factor * float(number)
        node = before
    return factor
