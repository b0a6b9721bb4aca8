"""DistributedOptimizer: an optimizer whose step() sees the gradients of all ranks.

A superset of `horovod.torch.DistributedOptimizer` without its traps. This module checks the arguments and
turns an optimizer into a distributed one; what its methods then do is in `reduction`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from torch import Tensor, nn
from torch.optim import Optimizer

from hvdkit.errors import UsageError
from hvdkit.torch import guards, registry
from hvdkit.torch.compression import AnyLayout, Compressor
from hvdkit.torch.engine import hvd, optimizers
from hvdkit.torch.names import Models, Names, checked_names, modules_by_prefix, parameter_names
from hvdkit.torch.reduction import KEPT, AdasumUpdates, Averaging

__all__ = ["DistributedOptimizer", "unwrap"]

OptimizerT = TypeVar("OptimizerT", bound=Optimizer)


def DistributedOptimizer(  # noqa: N802 - Horovod's name
    optimizer: OptimizerT,
    model: Models | Names | None = None,
    compression: Compressor = hvd.Compression.none,
    backward_passes_per_step: int = 1,
    op: int | None = None,
    gradient_predivide_factor: float = 1.0,
    num_groups: int = 0,
    groups: int | list[list[Tensor]] | None = None,
    sparse_as_dense: bool = False,
    process_set: Any = hvd.global_process_set,
    *,
    named_parameters: Names | None = None,
    fp16_allreduce: bool = False,
    use_adasum: bool = False,
    batches_per_allreduce: int | None = None,
) -> OptimizerT:
    """Make `optimizer` reduce its gradients over all ranks, and return it.

    The same object comes back: its state, its step hooks and schedulers built on it stay. Takes what
    `horovod.torch.DistributedOptimizer` takes, in its order, and besides:

    model: the module, a list of modules or a dict of them (its keys become prefixes) whose parameters the
        optimizer trains; only used to name them. Give this or `named_parameters`, or neither.
    fp16_allreduce: short for `compression=hvd.Compression.fp16`.
    use_adasum: short for `op=hvd.Adasum`.
    batches_per_allreduce: another name for `backward_passes_per_step`: the number of backward() calls whose
        gradients are summed on each rank before they are reduced. A shorter last window is fine.

    Parameters that are frozen now, or come with `add_param_group` later, are covered. bfloat16 and
    channels_last gradients are reduced too. A trainable parameter without gradient on this rank gets a
    gradient of zeros, as another rank may have one.

    Raises a type of `hvdkit.torch.guards` for what would fail or go wrong later, and UsageError for
    arguments that contradict each other.
    """
    guards.check_initialized()
    guards.check_optimizer(optimizer)
    passes = _passes(backward_passes_per_step, batches_per_allreduce)
    compression = _compression(compression, fp16_allreduce)
    op = _op(op, use_adasum)
    if groups is None and num_groups:
        groups = num_groups  # the older spelling
    if gradient_predivide_factor != 1.0 and (op != hvd.Average or groups is not None):
        raise UsageError(
            f"gradient_predivide_factor={gradient_predivide_factor} with "
            + ("groups" if op == hvd.Average else "an op other than Average"),
            why="Horovod applies it only to ungrouped averages",
            fix="leave one of them out",
        )
    named = registry.distinct(_named(optimizer, model, named_parameters))
    guards.check_covered(optimizer, named)
    registry.check_free(optimizer, list(registry.parameters_of(optimizer)))

    if op == hvd.Adasum and hvd.size() > 1:
        guards.check_adasum(optimizer, process_set)
        _become(
            optimizer,
            optimizers._DistributedAdasumOptimizer,
            AdasumUpdates,
            (named, AnyLayout(compression), passes),
        )
    else:
        more = (op, gradient_predivide_factor, groups, sparse_as_dense, process_set)
        _become(
            optimizer,
            optimizers._DistributedOptimizer,
            Averaging,
            (named, AnyLayout(compression), passes, *more),
        )
    registry.add(optimizer)
    return optimizer


def unwrap(optimizer: OptimizerT) -> OptimizerT:
    """Make a DistributedOptimizer an ordinary one again, state kept, and free its parameters for another.

    Raises NotDistributedError, or UnreducedGradientsError between backward() and step().
    """
    require_distributed(optimizer)
    if optimizer._handles:  # type: ignore[attr-defined]
        raise guards.UnreducedGradientsError(
            "unwrap() between backward() and step()", fix="call step() or zero_grad() first"
        )
    optimizer._grad_accs.clear()  # type: ignore[attr-defined]  # the hooks go with the last reference
    registry.remove(optimizer)
    optimizer.__class__ = type(optimizer).__bases__[-1]
    for name in KEPT:
        vars(optimizer).pop(name, None)
    return optimizer


def require_distributed(optimizer: Optimizer) -> None:
    """Raises NotDistributedError unless `optimizer` came out of this module's DistributedOptimizer."""
    if not issubclass(type(optimizer), _AlreadyBuilt):
        raise guards.NotDistributedError(
            f"this {type(optimizer).__name__} is not a hvdkit.torch.DistributedOptimizer",
            why="without the reduction in its step() each rank would train on its own",
            fix="optimizer = hvd.DistributedOptimizer(optimizer, model), with import hvdkit.torch as hvd",
        )


class _AlreadyBuilt(Optimizer):
    """First base of each class made here: Horovod's __init__ runs on an optimizer that is complete."""

    def __init__(self, params: object) -> None:
        """Nothing: groups, state and hooks are there."""


def _bottom(base: type[Optimizer], methods: type) -> type[_AlreadyBuilt]:
    """What Horovod's methods meet first on their way to the optimizer's own."""
    if methods is Averaging:
        return _AlreadyBuilt
    # Adasum steps once per parameter. Step hooks run around the whole, so not around each of these.
    step: Any = base.step
    if getattr(step, "hooked", False):
        step = step.__wrapped__
    return type(_AlreadyBuilt.__name__, (_AlreadyBuilt,), {"step": step})


def _become(optimizer: Optimizer, horovod_class: Any, methods: type, arguments: tuple[Any, ...]) -> None:
    """Give `optimizer` a class of its own, Horovod's methods with ours on top, and set Horovod up in it.

    Horovod's methods reach the optimizer's own with super(self.__class__, self), so they have to be in
    the dict of the class itself, as Horovod does it; __module__ is how Horovod knows such optimizers.
    """
    base = type(optimizer)
    ours = {name: value for name, value in vars(methods).items() if not name.startswith("__")}
    made = type(base.__name__, (_bottom(base, methods), base), {**vars(horovod_class), **ours})
    patched = vars(optimizer).pop("step", None)  # a scheduler's counter around the step of before
    optimizer.__class__ = made
    try:
        horovod_class.__init__(optimizer, optimizer.param_groups, *arguments)
    except BaseException:
        optimizer.__class__ = base
        if patched is not None:
            optimizer.step = patched  # type: ignore[method-assign]
        raise


def _named(optimizer: Optimizer, model: Any, named_parameters: Names | None) -> list[tuple[str, Tensor]]:
    """(name, parameter) from whichever way the caller gave them."""
    if model is not None and named_parameters is not None:
        raise UsageError(
            "both model and named_parameters are given",
            why="each names the parameters",
            fix="give one of them",
        )
    if model is not None and not isinstance(model, (nn.Module, Mapping)):
        model = list(model)
        if model and not isinstance(model[0], nn.Module):  # Horovod's second argument: its names
            model, named_parameters = None, model
    if model is not None:
        guards.check_modules(modules_by_prefix(model).values())
        return parameter_names(model)
    if named_parameters is not None:
        return checked_names(named_parameters)
    return [
        (f"parameter.{g}.{i}", parameter)
        for g, group in enumerate(optimizer.param_groups)
        for i, parameter in enumerate(group["params"])
    ]


def _passes(backward_passes_per_step: int, batches_per_allreduce: int | None) -> int:
    passes = backward_passes_per_step if batches_per_allreduce is None else batches_per_allreduce
    if backward_passes_per_step not in (1, passes):
        raise UsageError(
            f"backward_passes_per_step={backward_passes_per_step} and batches_per_allreduce={passes}",
            why="they are two names for the same number",
            fix="give one of them",
        )
    if passes < 1:
        raise UsageError(f"{passes} backward passes per step", fix="pass 1 or more")
    return passes


def _compression(compression: Compressor, fp16_allreduce: bool) -> Compressor:
    if not fp16_allreduce:
        return compression
    if compression not in (hvd.Compression.none, hvd.Compression.fp16):
        raise UsageError("both compression and fp16_allreduce are given", fix="give one of them")
    return hvd.Compression.fp16  # type: ignore[no-any-return]


def _op(op: int | None, use_adasum: bool) -> int:
    if use_adasum and op not in (None, hvd.Adasum):
        raise UsageError("both use_adasum and a different op are given", fix="give one of them")
    return hvd.Adasum if use_adasum else hvd.Average if op is None else op
