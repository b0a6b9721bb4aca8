"""The scale of the average by the ranks' own gradients, on hand-made records; and what the hook keeps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from hvdkit.observe.records import ADASUM, Event, Run, Step
from hvdkit.verify.hook.own import OwnGradients, last_factor
from hvdkit.verify.own_scale import compare_own

OWN = ({"w": torch.tensor([1.0, -2.0]), "b": torch.tensor([0.5])}, {"w": torch.tensor([3.0, 1.0])})


def mean() -> dict[str, torch.Tensor]:
    return {"w": torch.tensor([2.0, -0.5])}


@pytest.fixture
def make(tmp_path):
    """Records two ranks' steps: what the optimizer used, what each computed itself."""

    def record(used, own=OWN, steps=2, reduced=None, **fields) -> Run:
        place = tmp_path / str(len(list(tmp_path.iterdir())))
        (place / "values").mkdir(parents=True)
        found = {}
        for rank, each in enumerate(own):
            taken = [Step(0, 0, (0.1,), ())]
            for number in range(1, steps + 1):
                values = f"values/{rank}-{number}.pt"
                torch.save({"gradients": used, "own": each, "reduced": reduced or {}}, place / values)
                step = Step(0, number, (0.1,), (), factors=(1.0,), losses=(0.7,), values=values)
                taken.append(replace(step, **fields))
            found[rank] = tuple(taken)
        return Run(place, found)

    return record


def alone(factor: float = 1.0) -> Run:
    return Run(Path(), {0: tuple(Step(0, n, (0.1,), (), factors=(factor,)) for n in range(3))})


def times(factor: float) -> dict[str, torch.Tensor]:
    return {name: value * factor for name, value in mean().items()}


def test_the_mean_of_the_ranks(make):
    [found] = compare_own(alone(), make(mean()), 3).invariants
    assert found.holds and found.detail == "optimizers use the mean of what the ranks compute, 2 steps"


@pytest.mark.parametrize(
    ("used", "factor", "detail", "cause"),
    [
        (2.0, 1.0, "the gradient of w is 2 times the mean of the ranks' own, step 1", "summed"),
        (0.5, 1.0, "the gradient of w is 0.5 times the mean of the ranks' own, step 1", "twice"),
        (1.0, 0.5, "the loss is divided by 2, and gradients are averaged, step 1", "twice"),
    ],
)
def test_another_scale(make, used, factor, detail, cause):
    [found] = compare_own(alone(), make(times(used), factors=(factor,)), 3).invariants
    assert not found.holds and found.detail == detail
    assert found.cause is not None and cause in found.cause.text


def test_a_divided_loss_may_be_summed(make):
    [found] = compare_own(alone(), make(times(2.0), factors=(0.5,)), 3).invariants
    assert found.holds


def test_a_mean_in_the_loss_is_no_division_by_the_ranks(make):
    """A loss that is a sum divided by the samples of a rank: half as many as in one process."""
    [found] = compare_own(alone(1 / 8), make(mean(), factors=(1 / 4,)), 3).invariants
    assert found.holds


def test_what_is_clipped_is_compared_before_that(make):
    [found] = compare_own(alone(), make(times(0.01), reduced=mean()), 3).invariants
    assert found.holds
    [found] = compare_own(alone(), make(times(0.01), reduced=times(2.0)), 3).invariants
    assert not found.holds


def test_float16_rounds(make):
    rounded = {"w": mean()["w"] * (1 + 2.0**-11)}
    [found] = compare_own(alone(), make(rounded), 3).invariants
    assert found.holds


@pytest.mark.parametrize(
    "seen",
    [
        {"used": {"w": torch.tensor([0.5, 2.0])}},  # no multiple of the mean
        {"used": times(0.3)},  # by a factor of its own
        {"used": mean(), "own": (OWN[1], OWN[1])},  # reduced inside backward(): every rank has the same
        {"used": mean(), "own": ({}, {})},
        {"used": mean(), "events": (Event(ADASUM),)},
        {"used": mean(), "steps": 0},
    ],
)
def test_what_is_not_known_is_said(make, seen):
    found = compare_own(alone(), make(**seen), 3)
    assert not found.invariants
    assert str(found.unchecked[0]).startswith("not checked: the scale of the average: ")


def test_gradients_are_kept_as_backward_leaves_them():
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    own = OwnGradients(1)
    own.watch(optimizer)
    for _ in range(2):  # accumulated
        model(torch.ones(1, 2)).sum().backward()
    accumulated = torch.full((2,), 2.0)
    own.note_reduced(model.parameters())
    model.weight.grad.zero_()
    assert torch.equal(own.own[id(model.weight)], accumulated)
    kept, reduced = own.take(list(model.named_parameters()))
    assert torch.equal(kept["weight"], accumulated) and torch.equal(reduced["weight"], accumulated)
    assert own.take(list(model.named_parameters())) == ({}, {})
    own.left = 0
    model(torch.ones(1, 2)).sum().backward()
    assert own.take(list(model.named_parameters())) == ({}, {})


def test_the_last_factor_of_a_loss():
    weight = torch.nn.Parameter(torch.ones(3))
    loss = (weight * 2).sum()
    assert last_factor(loss) == 1.0
    assert last_factor(loss / 2) == 0.5
    assert last_factor(0.5 * loss / 2) == 0.25
    assert last_factor(torch.tensor(3.0) * loss) == 3.0
    assert last_factor(loss / torch.tensor(4.0)) == 0.25
    assert last_factor(loss * weight.sum()) == 1.0
    assert last_factor(2 / loss) == 2.0  # of the reciprocal
