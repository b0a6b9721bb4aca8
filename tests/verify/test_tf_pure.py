"""verify for TensorFlow, the parts that need none: how a script is started, and what its records say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hvdkit.observe.records import DECIDES, STEPS_OF_EPOCH, TF_DATA, Draw, Event, Run, Step, Tensor
from hvdkit.verify import tensorflow
from hvdkit.verify.cause import Cause
from hvdkit.verify.detect import Launcher, how_to_start
from hvdkit.verify.invariants import check_invariants
from hvdkit.verify.values import distance

EQUAL = "all ranks hold the same parameters after each step"


@pytest.mark.parametrize(
    ("code", "launcher"),
    [
        ("import tensorflow as tf\nmodel.fit(x)\n", Launcher.SINGLE),
        ("import keras\nmodel.fit(x)\n", Launcher.SINGLE),
        ("import tensorflow as tf\nstrategy = tf.distribute.MirroredStrategy()\n", Launcher.STRATEGY),
        (
            "from tensorflow import distribute\ns = distribute.MultiWorkerMirroredStrategy()\n",
            Launcher.STRATEGY,
        ),
        ("import tensorflow as tf\nimport hvdkit.tensorflow.keras as hvd\n", Launcher.HOROVOD),
        ("import tensorflow as tf\nimport horovod.tensorflow as hvd\n", Launcher.HOROVOD),
    ],
)
def test_how_to_start(tmp_path, code, launcher):
    script = tmp_path / "train.py"
    script.write_text(code)
    start = how_to_start(script)
    assert start.launcher is launcher
    assert start.tensorflow


def test_torch_with_a_board_of_tensorflow_is_torch(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        "import tensorflow\nimport torch.distributed as dist\ndist.init_process_group('gloo')\n"
    )
    assert how_to_start(script).launcher is Launcher.TORCHRUN


def fits(ranks: int, rows: int, steps: int) -> Run:
    """Two steps of a fit that is given the steps of an epoch, with batches of so many rows."""
    events = (Event(STEPS_OF_EPOCH, str(steps)),)
    draws = (Draw(0, 0, tuple(range(rows)), TF_DATA),)
    step = Step(0, 1, (0.1,), (), draws=draws, loader=0, epoch=0, events=events)
    return Run(Path(), {rank: (step, replace(step, number=2, events=())) for rank in range(ranks)})


@pytest.mark.parametrize(
    ("rows", "steps", "right"),
    [
        (8, 6, False),  # as in one process
        (8, 3, True),
        (4, 6, True),  # the batch is divided
        (8, 4, False),
        (16, 2, True),  # three do not divide into two
    ],
)
def test_steps_of_an_epoch(rows, steps, right):
    name = "an epoch of all ranks has as many samples as the original's"
    found = {
        inv.name: inv for inv in check_invariants(fits(1, 8, 6), fits(2, rows, steps), tensorflow.CAUSES)
    }
    assert found[name].holds is right and found[name].cause.rule == "HVD711"


def test_the_batch_of_a_strategy_is_that_of_all_its_devices():
    """A global batch that is divided leaves the steps of an epoch as they were."""
    checked = check_invariants(fits(2, 4, 6), fits(2, 4, 6), tensorflow.CAUSES)
    found = {inv.name: inv for inv in checked}
    assert found["an epoch of all ranks has as many samples as the original's"].holds


def deciding(*values: float) -> Run:
    """A run whose ranks end early by these losses of the validation."""
    steps = {
        rank: (Step(0, 1, (0.1,), (), events=(Event(DECIDES, f"EarlyStopping val_loss 0 {value!r}"),)),)
        for rank, value in enumerate(values)
    }
    return Run(Path(), steps)


@pytest.mark.parametrize(("values", "right"), [((0.5, 0.5), True), ((0.5, 0.25), False)])
def test_metrics_that_ranks_decide_by(values, right):
    checked = check_invariants(deciding(0.5), deciding(*values), tensorflow.CAUSES)
    found = {inv.name: inv for inv in checked}["ranks decide by the same metrics"]
    assert found.holds is right and found.cause.rule == "HVD715"
    assert right or found.detail == "EarlyStopping val_loss is 0.5, 0.25 on the ranks, epoch 0"


def run_of(starts: list[str], firsts: list[str], event: str) -> Run:
    """Two ranks: their parameter before step 1, after it, and after step 2, where they agree.

    The event is noted before step 2.
    """

    def step(number: int, digest: str, events: tuple[Event, ...] = ()) -> Step:
        return Step(0, number, (0.1,), (Tensor("w", (1,), "float32", digest, 1.0),), events=events)

    return Run(
        Path(),
        {
            rank: (step(0, start), step(1, first), step(2, "same", (Event(event),)))
            for rank, (start, first) in enumerate(zip(starts, firsts))
        },
    )


@pytest.mark.parametrize(
    ("starts", "firsts", "event", "rule"),
    [
        (["a", "b"], ["c", "d"], "late broadcast", None),
        (["a", "b"], ["c", "d"], "other", "HVD714"),
        (["a", "a"], ["c", "d"], "other", "HVD712"),
    ],
)
def test_a_broadcast_after_the_first_step_is_right(starts, firsts, event, rule):
    run = run_of(starts, firsts, event)
    equal = next(each for each in check_invariants(run, run, tensorflow.CAUSES) if each.name == EQUAL)
    assert equal.holds is (rule is None)
    assert equal.cause is None if rule is None else equal.cause.rule == rule


def test_a_broadcast_that_is_too_late():
    """After the second step it repairs what the first two did: no model gets its weights then."""
    run = run_of(["a", "b"], ["c", "d"], "other")
    late = {
        rank: (*steps, Step(0, 3, (0.1,), steps[0].parameters, events=(Event("late broadcast"),)))
        for rank, steps in run.steps.items()
    }
    equal = next(each for each in check_invariants(run, Run(Path(), late)) if each.name == EQUAL)
    assert not equal.holds


def test_all_samples_are_those_of_all_devices():
    """A strategy's original is recorded as several ranks, and one of them has a share of the samples."""

    def run(shares: list[tuple[str, ...]]) -> Run:
        return Run(
            Path(),
            {
                rank: tuple(
                    Step(0, n, (0.1,), (), draws=(Draw(0, n, share, "tf.data"),), loader=0, epoch=n)
                    for n in (0, 1)
                )
                for rank, share in enumerate(shares)
            },
        )

    name = "together they train on all samples"
    right, wrong = run([("a", "b"), ("c", "d")]), run([("a", "b"), ("c", "x")])
    for migrated, left_out in ((right, 0), (wrong, 1)):
        whole = next(each for each in check_invariants(right, migrated) if each.name == name)
        assert whole.holds is (left_out == 0) and whole.detail == f"{left_out} of 4 are left out"


def test_rules_are_those_of_tensorflow():
    assert tensorflow.named(Cause("HVD401", "summed")) == Cause("HVD712", "summed")
    assert tensorflow.named(Cause("HVD404", "clipped")) == Cause("HVD404", "clipped")


def test_how_far_arrays_are_apart(tmp_path):
    for name, values in (("one", [3.0, 4.0]), ("other", [3.0, 4.5])):
        with (tmp_path / f"{name}.npz").open("wb") as file:
            np.savez(file, **{"parameters/w": np.array(values), "parameters/zero": np.zeros(1)})
    one, other = (tmp_path / f"{name}.npz" for name in ("one", "other"))
    assert distance((one, "w"), (other, "w"), "parameters") == (0.5, 0.1)
    assert distance((one, "zero"), (other, "zero"), "parameters") == (0.0, None)
