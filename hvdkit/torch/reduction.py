"""What becomes of an optimizer's methods once Horovod reduces for it.

Horovod gives an optimizer a class made on the fly from the optimizer's own class and a dict of methods.
`Averaging` and `AdasumUpdates` are laid over that dict: each method here closes one trap and leaves the
work to Horovod's method of the same name. How an optimizer gets such a class is in `optimizer`.

`super(type(self), self)` is the optimizer as it was before: the class made on the fly derives from it, and
the two classes below are never part of its bases.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, Callable, Optional

import torch
from torch import Tensor
from torch.optim import Optimizer

from hvdkit.torch import registry
from hvdkit.torch.engine import hvd, optimizers
from hvdkit.torch.guards import SecondBackwardError, UnreducedGradientsError

__all__ = ["KEPT", "AdasumUpdates", "Averaging", "is_adasum"]

Closure = Optional[Callable[[], Any]]


class _State(Optimizer):
    """What Horovod keeps on the optimizer (horovod/torch/optimizer.py), for readers and type checkers."""

    backward_passes_per_step: int
    process_set: Any
    _handles: dict[Any, tuple[Any, Any]]
    _allreduce_delay: dict[Tensor, float]
    _parameter_names: dict[Tensor, str]
    _requires_update: set[Tensor]
    _grad_accs: list[Any]
    _groups: Any
    _p_to_group: dict[Tensor, tuple[Tensor, ...]]
    _group_counts: dict[tuple[Tensor, ...], int]
    _starting_models: dict[Tensor, Tensor]
    _synchronized: bool
    _should_synchronize: bool
    _make_hook: Callable[[Tensor], Callable[..., None]]
    _reduces: bool
    _sent: dict[Tensor, tuple[Tensor, int]]


# Everything that goes when the optimizer is an ordinary one again.
KEPT = tuple(_State.__annotations__)


class Averaging(_State):
    """Gradients are reduced while backward() runs, and waited for before they are used."""

    _reduces = False  # True once hooks are registered: more than one rank, and this one takes part

    def synchronize(self) -> None:
        """Wait until every gradient is reduced. A second call, and the step() after it, reduce nothing.

        Raises UnreducedGradientsError where a gradient was changed while it was being reduced.
        """
        if self._synchronized and not self._handles:
            return
        if self._reduces:
            _check_unchanged(self)
            # Horovod fixes this set when it wraps; parameters are frozen and unfrozen later. It is read
            # only to find those that no hook has seen: in most steps, none.
            every_hook_ran = len(self._handles) == len(self._allreduce_delay)
            self._requires_update = set() if every_hook_ran else _trainable(self)
        optimizers._DistributedOptimizer.synchronize(self)
        if self._reduces:
            self._sent.clear()

    def step(self, closure: Closure = None) -> Any:
        """Reduce what is not reduced yet, then step. Returns the closure's loss, averaged over ranks.

        closure: evaluated as often as the optimizer likes (LBFGS); gradients and loss are reduced at each
        evaluation, so that all ranks decide alike.
        """
        self._opt_called = True  # what learning rate schedulers look at
        if closure is not None:
            loss = super(type(self), self).step(_reduced(self, closure))
            self._synchronized = False
            return loss
        if self._should_synchronize and (self._handles or not self._synchronized):
            self.synchronize()
        self._synchronized = False
        return super(type(self), self).step()

    def zero_grad(self, *args: Any, **kwargs: Any) -> None:
        """torch's zero_grad. Gradients under reduction are waited for first, then thrown away."""
        if self._handles:
            warnings.warn(
                "zero_grad() discards gradients that were just reduced: no step() since backward(). "
                "If another model's loss went through these parameters, freeze them in the meantime with "
                "requires_grad_(False): it saves the reduction.",
                stacklevel=2,
            )
            for parameter, (grad, _) in self._sent.items():
                parameter.grad = grad  # Horovod writes to it, though somebody has set it to None
            self._sent.clear()
            self.synchronize()
        self._synchronized = False
        super(type(self), self).zero_grad(*args, **kwargs)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """torch's add_param_group; the new parameters are reduced like the others."""
        super(type(self), self).add_param_group(param_group)
        _adopt(self)

    def _register_hooks(self) -> None:
        self._sent = {}
        optimizers._DistributedOptimizer._register_hooks(self)
        self._reduces = True
        _watch_frozen(self)

    def _make_hook(self, p: Tensor) -> Callable[..., None]:
        return _once_a_step(self, p, optimizers._DistributedOptimizer._make_hook(self, p))

    def _allreduce_grad_async(self, p: Tensor) -> Any:
        handle = optimizers._DistributedOptimizer._allreduce_grad_async(self, p)
        _note_sent(self, (p,))
        return handle

    def _grouped_allreduce_grad_async(self, ps: tuple[Tensor, ...]) -> Any:
        handle = optimizers._DistributedOptimizer._grouped_allreduce_grad_async(self, ps)
        _note_sent(self, ps)
        return handle

    @property
    def _step_supports_amp_scaling(self) -> bool:
        # GradScaler.step() reads this before it looks at the gradients: the one place to stop it.
        if self._handles:
            raise UnreducedGradientsError(
                "scaler.step(optimizer) before the gradients are reduced",
                why="an overflow on one rank would make that rank alone skip the step",
                fix="hvd.scaler_step(scaler, optimizer), or optimizer.synchronize() before scaler.unscale_",
            )
        return bool(vars(self).get("_step_supports_amp_scaling", False))


class AdasumUpdates(_State):
    """Each parameter steps inside backward(); the updates, not the gradients, are combined in step()."""

    _reduces = False

    @Optimizer.profile_hook_step
    def step(self, closure: Closure = None) -> Any:
        """Combine the updates of all ranks. Returns what `closure` returned on this rank."""
        self._opt_called = True
        self._requires_update = _trainable(self)
        return optimizers._DistributedAdasumOptimizer.step(self, closure)

    def zero_grad(self, *args: Any, **kwargs: Any) -> None:
        """torch's zero_grad. Raises UnreducedGradientsError between backward() and step()."""
        if self._handles:
            raise UnreducedGradientsError(
                "zero_grad() between backward() and step()",
                why="Adasum has already taken this rank's update; only step() combines it with the others",
                fix="call step() after each backward()",
            )
        super(type(self), self).zero_grad(*args, **kwargs)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """torch's add_param_group; the new parameters are combined like the others."""
        super(type(self), self).add_param_group(param_group)
        _adopt(self)

    def _register_hooks(self) -> None:
        optimizers._DistributedAdasumOptimizer._register_hooks(self)
        self._reduces = True
        _watch_frozen(self)

    def _make_hook(self, p: Tensor) -> Callable[..., None]:
        return _once_a_step(self, p, optimizers._DistributedAdasumOptimizer._make_hook(self, p))


def is_adasum(optimizer: Optimizer) -> bool:
    """Whether Horovod, wrapped here or plain, combines this optimizer's updates by Adasum."""
    return hasattr(optimizer, "_starting_models")


_STEPS: tuple[Any, ...] = (Averaging.step, AdasumUpdates.step)
for _step in _STEPS:
    # torch wraps each step that lacks this mark in the calls of step hooks. Averaging leaves them to the
    # step inside, after the reduction; AdasumUpdates, with many steps inside, has them around the whole.
    _step.hooked = True
    _step._wrapped_by_lr_sched = True  # schedulers need no counter of their own: step sets _opt_called


def _once_a_step(optimizer: _State, parameter: Tensor, hook: Callable[..., None]) -> Callable[..., None]:
    """Horovod's hook, which from the moment the gradient is sent waits for step(): it asserts that alone."""

    def checked(*arguments: Any) -> None:
        if optimizer._allreduce_delay[parameter] <= 0:
            raise SecondBackwardError(
                f"backward() reached {optimizer._parameter_names[parameter]} again before step(), while its "
                "gradient was being reduced",
                why="what this backward() adds would reach the other ranks partly, or not at all",
                fix="(loss_1 + loss_2).backward() once, or `with hvd.accumulate(optimizer):` around each "
                "backward() but the last, or DistributedOptimizer(..., backward_passes_per_step=2)",
            )
        hook(*arguments)

    return checked


def _note_sent(optimizer: Averaging, parameters: Iterable[Tensor]) -> None:
    for parameter in parameters:
        grad = parameter.grad
        assert grad is not None
        # On ROCm, and on a GPU without GPU operations, Horovod itself writes the average with torch.
        if not grad.is_cuda or (hvd.nccl_built() and not hvd.rocm_built()):
            optimizer._sent[parameter] = grad, grad._version


def _check_unchanged(optimizer: Averaging) -> None:
    """torch counts each change of a tensor; Horovod's own writes, straight to the memory, it does not see."""
    changed = [
        optimizer._parameter_names[parameter]
        for parameter, (grad, version) in optimizer._sent.items()
        if parameter.grad is not grad or grad._version != version
    ]
    if changed:
        raise UnreducedGradientsError(
            f"{', '.join(changed[:3])}{', ...' if len(changed) > 3 else ''}: the gradient was clipped or "
            "changed after backward(), while it was being reduced",
            why="each rank would change a different part of the average, and the ranks would diverge",
            fix="hvd.clip_grad_norm_(optimizer, model.parameters(), max_norm), which waits first; before "
            "any other change, optimizer.synchronize()",
        )


def _trainable(optimizer: Optimizer) -> set[Tensor]:
    return {parameter for parameter in registry.parameters_of(optimizer) if parameter.requires_grad}


def _adopt(optimizer: _State) -> None:
    """Name and watch the parameters of the newest group; take the group back if they are not free."""
    new: list[Tensor] = optimizer.param_groups[-1]["params"]
    try:
        registry.check_free(optimizer, new)
    except BaseException:
        optimizer.param_groups.pop()
        raise
    names = optimizer._parameter_names
    unnamed = [parameter for parameter in new if parameter not in names]
    fresh = [(f"added.{len(names) + i}", parameter) for i, parameter in enumerate(unnamed)]
    names.update((parameter, name) for name, parameter in registry.distinct(fresh))
    _watch(optimizer, new)


def _watch_frozen(optimizer: _State) -> None:
    """Horovod leaves frozen parameters out for good; they are reduced once somebody unfreezes them."""
    _watch(
        optimizer,
        [
            p
            for p in registry.parameters_of(optimizer)
            if not p.requires_grad and (p.is_floating_point() or p.is_complex())
        ],
    )


def _watch(optimizer: _State, parameters: Iterable[Tensor]) -> None:
    """Register Horovod's hook, and what it looks up, for parameters that Horovod did not see."""
    for parameter in parameters:
        optimizer._allreduce_delay.setdefault(parameter, optimizer.backward_passes_per_step)
        if is_adasum(optimizer):
            optimizer._starting_models.setdefault(parameter, torch.zeros_like(parameter, requires_grad=False))
        elif optimizer._groups is not None:
            optimizer._p_to_group[parameter] = (parameter,)
            optimizer._group_counts[(parameter,)] = 0
        if not optimizer._reduces:
            continue
        requires_grad = parameter.requires_grad
        with torch.enable_grad():
            view: Any = parameter.requires_grad_().expand_as(parameter)
        parameter.requires_grad_(requires_grad)
        node = view.grad_fn.next_functions[0][0]  # what adds up this parameter's gradient
        node.register_hook(optimizer._make_hook(parameter))
        optimizer._grad_accs.append(node)  # nothing else keeps the node, and with it the hook, alive


def _reduced(optimizer: Averaging, closure: Callable[[], Any]) -> Callable[[], Any]:
    """`closure`, with gradients and loss reduced before anybody looks at them."""

    def evaluate() -> Any:
        loss = closure()
        optimizer.synchronize()
        if loss is None or not optimizer._reduces:
            return loss
        name = f"loss.{next(iter(optimizer._parameter_names.values()))}"
        local = torch.tensor(loss.item() if isinstance(loss, Tensor) else loss, dtype=torch.float64)
        mean = hvd.allreduce(local, name=name, op=hvd.Average, process_set=optimizer.process_set).item()
        return loss.new_tensor(mean) if isinstance(loss, Tensor) else mean

    return evaluate
