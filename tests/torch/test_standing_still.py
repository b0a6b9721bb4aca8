"""What hvdkit advises for a parameter that takes no part in a step: it stands still, as under DDP."""

from __future__ import annotations

from typing import Any, Callable

import horovod.torch
import pytest
import torch
from torch import Tensor, nn
from training import batch, gathered

import hvdkit.torch as hvd

pytestmark = pytest.mark.ranks

MAKERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "momentum": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9),
    "weight decay": lambda parameters: torch.optim.SGD(parameters, lr=0.1, weight_decay=0.1),
    "Adam": lambda parameters: torch.optim.Adam(parameters, lr=0.1),
}

LIBRARIES = pytest.mark.parametrize(
    "library", [pytest.param(horovod.torch, marks=pytest.mark.horovod), hvd], ids=["horovod", "hvdkit"]
)


class Heads(nn.Module):
    """Two heads that take turns."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.a, self.b = nn.Linear(6, 1), nn.Linear(6, 1)

    def forward(self, x: Tensor, head: str) -> Tensor:
        return getattr(self, head)(x)  # type: ignore[no-any-return]


def moved(make: Any, library: Any, freeze: bool, advice: bool) -> list[bool]:
    """Whether head b moves in a step of head a, on each rank."""
    model = Heads()
    optimizer = library.DistributedOptimizer(
        make(model.parameters()), named_parameters=list(model.named_parameters())
    )
    for head in ("b", "a"):
        model.b.requires_grad_(head == "b" or not freeze)
        before = model.b.weight.detach().clone()
        optimizer.zero_grad()
        model(batch(0), head).sum().backward()
        if advice:
            optimizer.synchronize()
            for parameter in model.b.parameters() if head == "a" else ():
                parameter.grad = None
            with optimizer.skip_synchronize():
                optimizer.step()
        else:
            optimizer.step()
    return gathered(not torch.equal(before, model.b.weight.detach()))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@LIBRARIES
def test_without_its_gradient_a_parameter_stands_still(make: Any, library: Any) -> None:
    """HVD201 and HVD906 say so."""
    assert moved(make, library, freeze=False, advice=True) == [False, False]


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@LIBRARIES
def test_freezing_it_after_the_wrap_is_no_help(make: Any, library: Any) -> None:
    """Which is why they do not say that; hvdkit's optimizer asks anew which parameters are trained."""
    moves = library is not hvd
    assert moved(make, library, freeze=True, advice=False) == [moves, moves]
