"""LARS: each layer's step in proportion to the size of its weights, for large global batches.

You, Gitman, Ginsburg 2017, Large Batch Training of Convolutional Networks (arXiv:1708.03888), algorithm 1.
A plain torch.optim.Optimizer, so that Horovod, schedulers, GradScaler and checkpoints take it like any other.
The global learning rate's decay and warm-up are a scheduler's, not in here.
"""

from __future__ import annotations

from typing import Any, Callable, overload

import torch
from torch import Tensor
from torch.optim import Optimizer
from torch.optim.optimizer import ParamsT

from hvdkit.errors import UsageError

__all__ = ["LARS"]


class LARS(Optimizer):
    """SGD with momentum whose learning rate is adapted for each parameter tensor l, at every step:

        ratio = trust_coefficient * |w_l| / (|g_l| + weight_decay * |w_l|)
        v_l   = momentum * v_l + lr * ratio * (g_l + weight_decay * w_l)
        w_l   = w_l - v_l

    |.| is the Euclidean norm over the tensor, g the gradient averaged over all ranks. Where |w_l| is 0, the
    ratio is 1: a bias that starts at zero would otherwise never move. Where |g_l| is 0, so is the ratio: the
    step on zero gradients with which Horovod's broadcast_optimizer_state begins leaves the weights alone.

    lr: the global learning rate, for the whole batch of all ranks. trust_coefficient: eta in the paper, which
    uses 0.001. All options have defaults and live in param_groups, from which Horovod builds its own class.

    LARC in apex wraps another optimizer, which Horovod does not take. It is this with two differences:
    - SGD's momentum inside it does not hold the learning rate: v = momentum * v + ratio * (g + decay * w),
      w = w - lr * v. Both take the same steps while lr is constant; where lr changes, LARS keeps the speed
      it has and LARC rescales it.
    - clip=True, its default, takes min(ratio / lr, 1) for the ratio, so that the layer's rate is at most lr.
      SwAV switches it off.

    Raises UsageError for options below zero, and for sparse gradients, whose norm says little of the layer.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float = 0.1,
        momentum: float = 0.9,
        weight_decay: float = 0.0,
        trust_coefficient: float = 0.001,
    ) -> None:
        options = {
            "lr": lr,
            "momentum": momentum,
            "weight_decay": weight_decay,
            "trust_coefficient": trust_coefficient,
        }
        for name, value in options.items():
            if not value >= 0:
                raise UsageError(f"LARS with {name}={value}", fix=f"pass a {name} of 0 or more")
        super().__init__(params, options)

    @overload
    def step(self, closure: None = None) -> None: ...
    @overload
    def step(self, closure: Callable[[], float]) -> float: ...
    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """One step; the closure, if given, computes the loss anew and its value is returned."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._update(parameter, parameter.grad, group)
        return loss

    def _update(self, parameter: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        if gradient.is_sparse:
            raise UsageError(
                "LARS got a sparse gradient",
                why="its norm is over the rows in use, the weight's over all of them",
                fix="build the embedding with sparse=False, or train it with SGD",
            )
        state = self.state[parameter]
        if not state:
            state["momentum_buffer"] = torch.zeros_like(parameter)
        rate = group["lr"] * _ratio(parameter, gradient, group["weight_decay"], group["trust_coefficient"])
        decayed = gradient.add(parameter, alpha=group["weight_decay"])
        state["momentum_buffer"].mul_(group["momentum"]).add_(decayed.mul_(rate))
        parameter.sub_(state["momentum_buffer"])


def _ratio(weight: Tensor, gradient: Tensor, weight_decay: float, trust_coefficient: float) -> Tensor:
    """The layer's learning rate over the global one: a scalar left on the device, so that no step waits."""
    weight_norm, gradient_norm = weight.norm(), gradient.norm()
    ratio = trust_coefficient * weight_norm / (gradient_norm + weight_decay * weight_norm)
    ratio = torch.where(weight_norm > 0, ratio, torch.ones_like(ratio))
    return torch.where(gradient_norm > 0, ratio, torch.zeros_like(ratio))
