"""The scale of the average, on hand-made records: one process, and ranks that were given its batches."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from hvdkit.observe.records import ADASUM, CLIPPED, Event, Run, Step
from hvdkit.verify import report, report_alone
from hvdkit.verify.alone import Alone
from hvdkit.verify.compare import compare
from hvdkit.verify.hook.tensors import describe
from hvdkit.verify.judge import Verification
from hvdkit.verify.own_scale import NAME
from hvdkit.verify.scale import compare_scale
from hvdkit.verify.scene import Request
from hvdkit.verify.session import verify
from hvdkit.verify.tolerance import tolerance_for

GRADIENTS = {"weight": torch.tensor([0.5, -0.25]), "bias": torch.tensor([2.0**-20])}
STEPS = 3


@pytest.fixture
def make(tmp_path):
    """Records a run: the gradients of each rank at each step; what a step has besides, as fields."""

    def record(folder: str, ranks: list[dict[str, torch.Tensor]], **fields: object) -> Run:
        place = tmp_path / folder
        (place / "values").mkdir(parents=True)
        return Run(place, {rank: steps_of(place, rank, given, fields) for rank, given in enumerate(ranks)})

    def steps_of(place: Path, rank: int, given: dict[str, torch.Tensor], fields) -> tuple[Step, ...]:
        steps = []
        for number in range(STEPS + 1):
            values = f"values/{rank}-{number}.pt"
            torch.save({"gradients": given}, place / values)
            step = Step(
                0,
                number,
                (0.1,),
                (describe("weight", torch.full((2,), 1.0 - number)),),
                gradients=tuple(describe(name, value) for name, value in given.items()) if number else (),
                losses=(0.7,) if number else (),
                batches=(f"batch {number}",) if number else (),
                values=values,
            )
            steps.append(replace(step, **fields) if number else step)
        return tuple(steps)

    return record


def times(factor: float, **only: torch.Tensor) -> dict[str, torch.Tensor]:
    return {name: value * factor for name, value in (only or GRADIENTS).items()}


@pytest.mark.parametrize(
    ("factor", "detail", "cause"),
    [
        (2.0, "the gradient of weight is 2 times", "summed"),
        (0.5, "the gradient of weight is 0.5 times", "twice"),
        (3.0, "the gradient of weight is 3 times", "the result of the average is not"),
    ],
)
def test_the_scale_is_named(make, factor, detail, cause):
    [found] = compare_scale(make("one", [GRADIENTS]), make("ranks", [times(factor)] * 2)).invariants
    assert found.name == NAME and not found.holds
    assert found.detail.startswith(detail) and found.detail.endswith("step 1")
    assert found.cause is not None and cause in found.cause.text


def test_equal_in_every_bit_or_as_far_as_a_divisor_rounds(make):
    one = make("one", [GRADIENTS])
    for name, factor in (("same", 1.0), ("three ranks", 1.0 + 2.0**-23)):
        [found] = compare_scale(one, make(name, [times(factor)] * 2)).invariants
        assert found.holds and found.detail == "given its batches, every rank has its gradient, 3 steps"


def test_a_part_of_the_model(make):
    """Of one small parameter; and of one whose gradient is lost."""
    one = make("one", [GRADIENTS | {"head": torch.tensor([0.01])}])
    for name, given in (
        ("summed", GRADIENTS | {"head": torch.tensor([0.02])}),
        ("lost", GRADIENTS),
        ("nothing", GRADIENTS | {"head": torch.tensor([0.0])}),
    ):
        [found] = compare_scale(one, make(name, [given] * 2)).invariants
        assert not found.holds and found.detail.startswith("the gradient of head")


def test_clipping_hides_no_sum(make):
    """What was clipped to one norm is equal; the norms before it are not."""
    one = make("one", [GRADIENTS], events=(Event(CLIPPED, "3.0"),))
    [found] = compare_scale(one, make("ranks", [GRADIENTS] * 2, events=(Event(CLIPPED, "6.0"),))).invariants
    assert not found.holds and found.detail.startswith("the norm that is clipped is 2 times")


def test_a_parameter_without_a_gradient_may_get_zeros(make):
    """Horovod reduces zeros for what took no part in the step."""
    given = GRADIENTS | {"unused": torch.zeros(2)}
    [found] = compare_scale(make("one", [GRADIENTS]), make("ranks", [given] * 2)).invariants
    assert found.holds


def test_what_cannot_be_compared_is_said(make):
    one = make("one", [GRADIENTS])
    twice = [times(2.0)] * 2
    apart = make("apart", twice)
    apart.steps[1] = tuple(replace(step, losses=(0.9,)) for step in apart.steps[1])
    for name, given, ranks in (
        ("another batch", one, make("other", twice, batches=("batch 7",))),
        ("fewer batches", one, make("fewer", twice, batches=())),
        ("no loader", make("none", [GRADIENTS], batches=()), make("neither", twice, batches=())),
        ("own random numbers", one, apart),
        ("no step", one, Run(Path(), {0: apart.steps[0][:1], 1: apart.steps[1][:1]})),
    ):
        found = compare_scale(given, ranks)
        assert not found.invariants, name
        assert str(found.unchecked[0]).startswith("not checked: the scale of the average: "), name


def test_the_verdict_names_what_was_not_checked(make):
    one = make("one", [GRADIENTS])
    missing = compare_scale(make("none", [GRADIENTS], batches=()), one).unchecked
    compared = Verification(compare(one, one, tolerance_for(1, None)), (), (), (), unchecked=missing)
    alone = Alone(one, one, (), missing, (), ())
    not_checked = "not checked: the scale of the average"
    assert report.verdict(compared) == f"agree, {not_checked} (bit for bit, 3 steps on 1 rank)"
    assert report_alone.verdict(alone).startswith(f"holds, {not_checked} (")
    assert compared.code == alone.code == 3
    for result in (report.as_json(compared), report_alone.as_json(alone)):
        reason = "the batches do not come from a DataLoader"
        assert result["unchecked"] == [{"what": "the scale of the average", "reason": reason}]
    assert f"not checked: the scale of the average: {reason}" in report.details(compared)
    assert "not checked" not in report.verdict(replace(compared, unchecked=()))


def test_adasum_is_held_against_the_first_step_alone(make):
    """It rounds each update in a way of its own, so the second step starts from other weights."""
    ranks = make("ranks", [GRADIENTS] * 2, events=(Event(ADASUM),))
    [found] = compare_scale(make("one", [GRADIENTS]), ranks).invariants
    assert found.holds and found.detail.endswith("1 step")


@pytest.mark.launch
@pytest.mark.parametrize(
    ("old", "new", "cause"),
    [
        ("named_parameters())", "named_parameters())", ""),
        ("named_parameters())", "named_parameters(), op=hvd.Sum)", "summed"),
        ("loss.backward()", "(loss / hvd.size()).backward()", "twice"),
    ],
)
def test_a_script_that_slices_its_tensors_itself(tmp_path, monkeypatch, old, new, cause):
    """No loader returns its batches, so they cannot be given to another run; clipping hides most of a sum."""
    scripts = Path(__file__).parents[2] / "benchmarks" / "migrations" / "tensors"
    monkeypatch.chdir(tmp_path)
    Path("original.py").write_text((scripts / "original.py").read_text())
    Path("migrated.py").write_text((scripts / "right.py").read_text().replace(old, new))
    request = Request(Path("original.py"), Path("migrated.py"), steps=3)
    found = verify(request, lambda line: print(line, file=sys.stderr))
    [scale] = [held for held in found.invariants if held.name == NAME]
    assert scale.holds is not bool(cause)
    assert found.holds is scale.holds
    if cause:
        assert scale.cause is not None and cause in scale.cause.text
