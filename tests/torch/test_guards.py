"""Each mistake around the optimizer is refused with its own error, before a step is taken."""

from __future__ import annotations

from typing import Any

import horovod.torch
import pytest
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from training import mlp, process_group

import hvdkit.torch as hvd
from hvdkit.errors import UsageError
from hvdkit.torch import guards

pytestmark = pytest.mark.ranks


def sgd(model: nn.Module) -> torch.optim.SGD:
    return torch.optim.SGD(model.parameters(), lr=0.1)


def refused(error: type[guards.HvdkitError], *words: str) -> Any:
    return pytest.raises(error, match="(?s)" + ".*".join(words) + ".*why: .*fix: ")


def test_same_optimizer_twice() -> None:
    model = mlp()
    optimizer = hvd.DistributedOptimizer(sgd(model), model)
    with refused(guards.AlreadyDistributedError, "already a DistributedOptimizer"):
        hvd.DistributedOptimizer(optimizer, model)


@pytest.mark.horovod
def test_optimizer_that_horovod_has_wrapped() -> None:
    other = mlp()
    theirs = horovod.torch.DistributedOptimizer(sgd(other), other.named_parameters(prefix="theirs"))
    with refused(guards.AlreadyDistributedError, "already a DistributedOptimizer"):
        hvd.DistributedOptimizer(theirs, other)


def test_same_parameters_twice() -> None:
    model = mlp()
    optimizer = hvd.DistributedOptimizer(sgd(model), model)
    with refused(guards.AlreadyDistributedError, "already reduced by another"):
        hvd.DistributedOptimizer(sgd(model[2]), model)
    hvd.unwrap(optimizer)
    hvd.DistributedOptimizer(sgd(model[2]), model)


def test_parameters_not_covered() -> None:
    model, head = mlp(), nn.Linear(1, 7)
    optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.1)
    with refused(guards.UncoveredParametersError, "2 parameters", r"\(7, 1\)"):
        hvd.DistributedOptimizer(optimizer, model)
    with refused(guards.UncoveredParametersError, "2 parameters"):
        hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    hvd.DistributedOptimizer(optimizer, [model, head])


def test_names() -> None:
    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    optimizer = torch.optim.SGD([*a.parameters(), *b.parameters()], lr=0.1)
    with refused(UsageError, "appear twice: bias, weight"):
        hvd.DistributedOptimizer(optimizer, [*a.named_parameters(), *b.named_parameters()])
    with pytest.raises(UsageError, match="pairs"):
        hvd.DistributedOptimizer(optimizer, named_parameters=a.parameters())
    with pytest.raises(UsageError, match=r"expected torch.nn.Module at 'b'"):
        hvd.DistributedOptimizer(optimizer, {"a": a, "b": b.weight})  # type: ignore[dict-item]


def test_wrapped_models() -> None:
    model = mlp()
    parallel = nn.DataParallel(model)
    with refused(guards.WrappedModelError, "DataParallel"):
        hvd.DistributedOptimizer(sgd(model), parallel)
    with process_group():
        inside = nn.Sequential(DistributedDataParallel(model))
        with refused(guards.WrappedModelError, "DistributedDataParallel"):
            hvd.DistributedOptimizer(sgd(model), inside)


class LARC:
    """As apex.parallel.LARC: holds an optimizer, changes gradients in step(), is no Optimizer."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.optim = optimizer


def test_apex_and_other_optimizers() -> None:
    model = mlp()
    with refused(guards.ForeignOptimizerError, "LARC", "SGD"):
        hvd.DistributedOptimizer(LARC(sgd(model)), model)  # type: ignore[type-var]
    with refused(guards.ForeignOptimizerError, "not a torch.optim.Optimizer"):
        hvd.DistributedOptimizer(object(), model)  # type: ignore[type-var]
    optimizer = sgd(model)
    optimizer._amp_stash = object()  # type: ignore[attr-defined]  # what apex.amp.initialize leaves
    with refused(guards.ForeignOptimizerError, "apex"):
        hvd.DistributedOptimizer(optimizer, model)


def test_replaced_step() -> None:
    model = mlp()
    optimizer = sgd(model)
    step = optimizer.step
    optimizer.step = lambda *args: step(*args)  # type: ignore[method-assign]
    with refused(guards.PatchedStepError, "step of this SGD was replaced"):
        hvd.DistributedOptimizer(optimizer, model)


def test_unwrap_of_a_plain_optimizer() -> None:
    with refused(guards.NotDistributedError, "SGD"):
        hvd.unwrap(sgd(mlp()))
