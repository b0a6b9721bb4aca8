"""Mistakes around the optimizer that would cost a run, each refused before the first step.

One error type per cause, and the checks that raise them; those that every framework has are in
hvdkit.guards. What an optimizer does once it is accepted is in `optimizer`; nothing here changes anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from hvdkit import guards as shared
from hvdkit.errors import HvdkitError
from hvdkit.guards import (
    AdasumUnavailableError,
    AdasumUnsupportedError,
    AlreadyDistributedError,
    ForeignOptimizerError,
    NotDistributedError,
    NotInitializedError,
)
from hvdkit.torch.engine import hvd, optimizers

__all__ = [
    "AdasumUnavailableError",
    "AdasumUnsupportedError",
    "AlreadyDistributedError",
    "ForeignOptimizerError",
    "NotDistributedError",
    "NotInitializedError",
    "PatchedStepError",
    "SecondBackwardError",
    "UncoveredParametersError",
    "UnreducedGradientsError",
    "WrappedModelError",
]


class WrappedModelError(HvdkitError):
    """The model is inside DistributedDataParallel or DataParallel, which reduce gradients themselves."""


class UncoveredParametersError(HvdkitError):
    """The optimizer trains parameters that the given model or names do not contain."""


class PatchedStepError(HvdkitError):
    """Somebody replaced `step` on the optimizer object, which would go past the reduction."""


class SecondBackwardError(HvdkitError):
    """backward() ran again before step(), and the gradients of the first were already being reduced."""


class UnreducedGradientsError(HvdkitError):
    """Gradients were changed, or about to be used, while their reduction is still under way."""


def check_initialized() -> None:
    """Raises NotInitializedError before `hvd.init()`."""
    shared.check_initialized(hvd)


def check_optimizer(optimizer: object) -> None:
    """Raises ForeignOptimizerError, AlreadyDistributedError or PatchedStepError."""
    kind = f"{type(optimizer).__module__}.{type(optimizer).__qualname__}"
    if isinstance(getattr(optimizer, "optim", None), Optimizer):
        raise ForeignOptimizerError(
            f"{kind} is a wrapper around {type(optimizer.optim).__name__}",  # type: ignore[attr-defined]
            why="its step() calls the inner optimizer, bypassing Horovod, so the ranks would diverge",
            fix="wrap the inner optimizer with DistributedOptimizer, put the other wrapper around it, "
            "and call the inner synchronize() before the outer step()",
        )
    if not isinstance(optimizer, Optimizer):
        raise ForeignOptimizerError(
            f"{kind} is not a torch.optim.Optimizer",
            why="Horovod reduces gradients in the step() of torch.optim.Optimizer",
            fix="pass the torch.optim.Optimizer that holds the parameters",
        )
    if hasattr(optimizer, "_amp_stash"):
        raise ForeignOptimizerError(
            f"{kind} has been through apex.amp.initialize",
            why="apex replaced its methods and keeps its own copies of the gradients",
            fix="use torch.amp: torch.autocast, torch.amp.GradScaler and hvd.scaler_step",
        )
    if type(optimizer).__module__ == optimizers.__name__:
        raise AlreadyDistributedError(
            f"this {type(optimizer).__name__} is already a DistributedOptimizer",
            why="each gradient would be reduced twice",
            fix="wrap the optimizer once",
        )
    step = vars(optimizer).get("step")
    # A learning rate scheduler puts a marked counter around step; DistributedOptimizer keeps its count.
    if step is not None and not hasattr(step, "_wrapped_by_lr_sched"):
        raise PatchedStepError(
            f"step of this {type(optimizer).__name__} was replaced on the object, "
            f"by {getattr(step, '__module__', '?')}.{getattr(step, '__qualname__', '?')}",
            why="the replacement calls the original step, which does not reduce gradients",
            fix="wrap with DistributedOptimizer first, then apply whatever replaces step",
        )


def check_modules(modules: Iterable[nn.Module]) -> None:
    """Raises WrappedModelError when a module, or one inside it, reduces gradients itself."""
    for module in modules:
        for part in module.modules():
            if isinstance(part, (nn.parallel.DistributedDataParallel, nn.DataParallel)):
                raise WrappedModelError(
                    f"the model contains torch.nn.parallel.{type(part).__name__}",
                    why="it reduces or splits the gradients itself, before Horovod does",
                    fix="pass the module that it wraps, and train that one: model = model.module",
                )


def check_covered(optimizer: Optimizer, named: Sequence[tuple[str, Tensor]]) -> None:
    """Raises UncoveredParametersError when a parameter of the optimizer has no name."""
    known = {id(parameter) for _, parameter in named}
    missing = [
        f"param_groups[{g}]['params'][{i}] of shape {tuple(parameter.shape)}"
        for g, group in enumerate(optimizer.param_groups)
        for i, parameter in enumerate(group["params"])
        if id(parameter) not in known
    ]
    if missing:
        raise UncoveredParametersError(
            f"{len(missing)} parameters of the optimizer are not in the model: {', '.join(missing[:5])}"
            + (", ..." if len(missing) > 5 else ""),
            why="without a name that is the same on all ranks a gradient cannot be reduced",
            fix="pass every module that the optimizer trains: DistributedOptimizer(optimizer, [model, head])",
        )


def check_adasum(optimizer: Optimizer, process_set: object) -> None:
    """Raises AdasumUnavailableError or AdasumUnsupportedError."""
    shared.check_adasum(hvd, process_set)
    if isinstance(optimizer, torch.optim.LBFGS):
        raise AdasumUnsupportedError(
            "Adasum is requested with LBFGS",
            why="Adasum steps one parameter at a time, LBFGS needs all of them in one step",
            fix="do not use Adasum, or use a different optimizer",
        )
