"""From records of two runs that differ in one thing to its name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hvdkit.observe.records import CLIPPED, WRONG_ORDER, Draw, Event, Run, Step, Tensor
from hvdkit.verify.causes import STATE, Cause, likely_causes
from hvdkit.verify.compare import compare
from hvdkit.verify.tolerance import tolerance_for


def tensor(name: str, value: str, norm: float = 1.0) -> Tensor:
    return Tensor(name, (2,), "float32", value, norm)


GRADIENTS = (tensor("a", "ga"), tensor("b", "gb", 2.0))
STEP = Step(
    0,
    1,
    (0.1,),
    (tensor("a", "pa"), tensor("b", "pb")),
    gradients=GRADIENTS,
    losses=(0.5,),
    draws=(Draw(0, 1, (3, 0, 2), "DistributedSampler"),),
    batches=("x",),
    loader=0,
    epoch=1,
    values="values.npz",
)


@pytest.fixture
def cause_of(tmp_path: Path) -> Any:
    """The cause that is named where these fields of the migrated run's step differ, on these ranks.

    both: of the step in both runs.
    """

    def named(ranks: tuple[int, ...], both: dict[str, Any] | None = None, **changed: Any) -> Cause:
        of_rank = {rank: {"batches": (f"x{rank}",), "losses": (0.5 + rank,)} for rank in (0, 1)}
        ranked = {rank: (replace(STEP, **fields, **(both or {})),) for rank, fields in of_rank.items()}
        other = dict(ranked)
        for rank in ranks:
            fields = {
                name: value[rank] if isinstance(value, dict) else value for name, value in changed.items()
            }
            other[rank] = (replace(ranked[rank][0], **fields),)
        folders = [tmp_path / "one", tmp_path / "other"]
        for place, folder in enumerate(folders):
            folder.mkdir(exist_ok=True)
            kept = {
                f"{kind}/{name}": np.ones(2) + place for kind in ("parameters", "gradients") for name in "ab"
            }
            kept["buffers/1.running_mean"] = np.ones(2) + place
            np.savez(folder / STEP.values, **kept)
        comparison = compare(Run(folders[0], ranked), Run(folders[1], other), tolerance_for(2, None))
        cause, *others = likely_causes(comparison)
        assert others in ([], [STATE])  # which is named beside the first wherever ranks hold different things
        return cause

    return named


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (Draw(0, 0, (3, 0, 2)), "has more batches"),
        (Draw(0, 2, (3, 0, 2)), "has fewer batches"),
        (Draw(0, 1, (3, 0)), "a batch of one rank has 2 samples, and the original's 3"),
        (Draw(0, 1, (0, 2, 4)), "not shuffled"),
        (Draw(0, 1, (4, 0, 2)), "the number that set_epoch is given"),
    ],
)
def test_samples(cause_of, draw, words):
    cause = cause_of((0, 1), draws=(replace(draw, sampler="DistributedSampler"),))
    assert cause.rule == "HVD301" and words in cause.text


def test_a_rate_of_one_rank(cause_of):
    assert "on some ranks only" in cause_of((1,), rates=(0.05,)).text
    assert "the number of" not in cause_of((0, 1), rates=(0.05,)).text


def test_a_loss_of_random_numbers_and_one_of_statistics(cause_of):
    assert "random numbers (dropout) are seeded differently" in cause_of((1,), losses=(1.7,)).text
    both = {0: (0.7,), 1: (1.9,)}
    assert "SyncBatchNorm" not in cause_of((0, 1), losses=both).text
    buffers = (tensor("mean", "m"),)
    cause = cause_of((0, 1), losses=both, buffers=buffers)
    assert "SyncBatchNorm" in cause.text and cause.rule == "HVD204"


def test_another_batch_of_a_loader_that_does_not_train(cause_of):
    trains = Draw(0, 1, (3, 0, 2), "DistributedSampler")
    both = {"draws": (trains, Draw(1, 0, (8, 9)))}
    assert "the loader that evaluates" in cause_of((0, 1), both, draws=(trains, Draw(1, 0, (8,)))).text


def test_an_optimizer_that_was_loaded_before_it_was_wrapped(cause_of):
    loaded = {"number": 0, "state": (tensor("step of a", "s"),)}
    assert "wrap it first, then load" in cause_of((0, 1), loaded, rates=(0.2,), state=()).text
    assert "wrap it first, then load" not in cause_of((0, 1), loaded, rates=(0.2,)).text


def test_statistics_of_one_rank(cause_of):
    """Before the first step, where the first batch has gone through the model: they were all ranks'."""
    alike = {"number": 0, "buffers": (tensor("1.running_mean", "m"),)}
    apart = {rank: (tensor("1.running_mean", f"m{rank}"),) for rank in (0, 1)}
    cause = cause_of((0, 1), alike, buffers=apart)
    assert cause.rule == "HVD204" and "SyncBatchNorm was lost" in cause.text


@pytest.mark.parametrize("what", WRONG_ORDER)
def test_calls_that_are_wrong_whatever_comes_out(cause_of, what):
    cause = cause_of((1,), events=(Event(what, "seen"),))
    assert (cause.rule, cause.text) == WRONG_ORDER[what]


def test_gradients_times_one_number(cause_of):
    larger = (tensor("a", "ga3", 3.0), tensor("b", "gb3", 6.0))
    assert "every gradient is 3 times the original's: clipping" in cause_of((0, 1), gradients=larger).text
    doubled = (tensor("a", "ga2", 2.0), tensor("b", "gb2", 4.0))
    assert "summed, not averaged" in cause_of((0, 1), gradients=doubled).text


@pytest.mark.parametrize(("norm", "words"), [("5.0", "summed"), ("1.25", "twice"), ("3.0", "every gradient")])
def test_gradients_that_were_clipped(cause_of, norm, words):
    """The norm before it tells what clipping has made of it."""
    clipped = (tensor("a", "ga3", 1.3), tensor("b", "gb3", 2.6))
    before = {"events": (Event(CLIPPED, "2.5"),)}
    assert words in cause_of((0, 1), before, gradients=clipped, events=(Event(CLIPPED, norm),)).text


def test_updates_of_the_same_gradient(cause_of):
    moved = (tensor("a", "pa2"), tensor("b", "pb"))
    assert "state differs on rank 1" in cause_of((1,), parameters=moved).text
    assert "wrapped is lost" in cause_of((0, 1), parameters=moved).text
