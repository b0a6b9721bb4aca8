"""hvdkit verify on TensorFlow: right migrations agree bit for bit, wrong ones are caught and named.

Under Gloo with Keras 2 and under MPI with Keras 3, as scripts/test has the two stacks.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import keras
import pytest

from hvdkit.observe.records import TO_END
from hvdkit.verify.differences import Stage
from hvdkit.verify.judge import Verification
from hvdkit.verify.report import as_json, verdict
from hvdkit.verify.scene import Request
from hvdkit.verify.session import WorldError, verify

pytestmark = pytest.mark.launch

KERAS_3 = keras.__version__.startswith("3")
CONTROLLER = "mpi" if KERAS_3 else "gloo"
# Plain Horovod reduces nothing under Keras 3: what migrate makes for it is for Keras 2.
TARGET = "hvdkit" if KERAS_3 else "horovod"
MNIST = Path(__file__).parents[2] / "examples" / "mnist"
FIXTURES = Path(__file__).parent / "fixtures"
# Two of the four on each stack, for time: one by fit and one by a tape, one of them with a strategy.
ORIGINALS = ("keras_fit", "keras_tape_mirrored") if KERAS_3 else ("keras_tape", "keras_fit_mirrored")

SAVING = 'hvd.callbacks([tf.keras.callbacks.ModelCheckpoint("model.weights.h5", save_weights_only=True)])'
EQUAL = "all ranks hold the same parameters after each step"
APART = "ranks train on different samples"
WHOLE = "together they train on all samples"
ORDER = "each epoch has a different order"
RATE = "the learning rate is the original's, or scaled by the number of ranks"
HOSTS = "ranks compute the same on one host as on two"
WRITER = "each file has one writer"
BATCH = "a rank's batch is the original's, or a share of it"
STATE = "all ranks hold the same optimizer state, buffers and untrained modules"


def verified(folder: Path, monkeypatch: pytest.MonkeyPatch, original: str, migrated: str, **asked: int):
    monkeypatch.chdir(folder)
    request = Request(Path(original), Path(migrated), controller=CONTROLLER, **asked)
    return verify(request, lambda line: print(line, file=sys.stderr))


def of_fixture(
    folder: Path, monkeypatch: pytest.MonkeyPatch, edits: dict[str, str], which: str = ".", steps: int = 9
) -> Verification:
    shutil.copytree(FIXTURES / which, folder / "project")
    script = folder / "project" / "migrated.py"
    for old, new in edits.items():
        assert old in script.read_text(), f"the fixture has changed: {old!r} is not in it"
        script.write_text(script.read_text().replace(old, new))
    # Nine steps: both begin a second epoch, and have saved.
    return verified(folder / "project", monkeypatch, "original.py", "migrated.py", steps=steps)


def failed(result: Verification) -> dict[str, str]:
    """Rule that is named, by what does not hold."""
    return {each.name: each.cause.rule for each in result.invariants if not each.holds and each.cause}


@pytest.mark.parametrize("original", ORIGINALS)
def test_examples_agree_bit_for_bit(original, monkeypatch):
    result = verified(MNIST, monkeypatch, f"{original}.py", f"{original}_{TARGET}.py")
    comparison = result.comparison
    assert comparison.differences == () and comparison.identical
    assert failed(result) == {} and result.holds
    divided = "mirrored" in original
    rate = {RATE} if divided else set()  # else it is compared with a twin's
    assert {each.name for each in result.invariants} - {HOSTS} == {EQUAL, STATE, APART, WRITER, BATCH} | rate
    assert verdict(result).startswith("agree: bit for bit, 5 steps on 2 ranks") and result.code == 0
    first = comparison.original.steps[0][1]
    assert len(first.parameters) == len(first.gradients) == 8
    assert all(tensor.norm > 0 for tensor in first.gradients)
    assert first.rates == pytest.approx((0.02,))
    assert len(first.draws) == len(first.batches) == 1 and len(first.draws[0].indices) == 32
    second = comparison.original.steps[1][1]
    assert second.gradients == first.gradients, "reduced before they are recorded"
    assert second.batches != first.batches, "each has its own"
    ran = "2 logical CPU devices" if divided else "it was run as 2 processes"
    assert any(ran in note for note in result.notes)


def test_unseeded_with_dropout_and_statistics(tmp_path, monkeypatch):
    """What a script leaves to chance is fixed in both runs; buffers and files are seen."""
    result = of_fixture(tmp_path, monkeypatch, {})
    assert result.comparison.differences == () and result.comparison.identical
    assert failed(result) == {}
    assert not result.unchecked
    assert {each.name for each in result.invariants} == {EQUAL, STATE, APART, WHOLE, ORDER, WRITER, BATCH}
    steps = result.comparison.original.steps[0]
    assert len(steps[1].buffers) == 2 and steps[1].buffers != steps[2].buffers
    assert "model.weights.h5" in {name for step in steps for name in step.writes}
    assert as_json(result)["holds"] is True


def test_weights_apart_no_shards_another_rate_and_two_writers(tmp_path, monkeypatch):
    result = of_fixture(
        tmp_path,
        monkeypatch,
        {
            "hvd.broadcast(model)\n": "",
            # What fit broadcasts itself is changed again.
            "hvd.callbacks([": "([tf.keras.callbacks.LambdaCallback(on_train_begin=lambda logs: "
            "model.set_weights([array + hvd.rank() for array in model.get_weights()])), ",
            # HDF5 locks its files: two writers of one would end the job.
            '"model.weights.h5", save_weights_only=True': '"model.keras"',
            "hvd.shard_dataset(tf.data.Dataset.from_tensor_slices((x, y)))": (
                "tf.data.Dataset.from_tensor_slices((x, y))"
            ),
            "Adam(0.01)": "Adam(0.01 * hvd.size() * hvd.size())",
        },
    )
    assert failed(result) == {EQUAL: "HVD714", APART: "HVD710", WRITER: "HVD718"}
    first = {each.stage: each for each in reversed(result.comparison.differences)}[Stage.RATE]
    assert first.step == 1 and float(first.migrated) / float(first.original) == pytest.approx(4)


def test_nothing_is_averaged(tmp_path, monkeypatch):
    """Under Keras 3 by Horovod's own optimizer, which trains on without a word."""
    weights = "[v.value for v in model.weights]" if KERAS_3 else "model.weights"
    edits = {
        "import numpy": "import horovod.tensorflow.keras\nimport numpy",
        "hvd.DistributedOptimizer(": "horovod.tensorflow.keras.DistributedOptimizer(" if KERAS_3 else "(",
        "hvd.broadcast(model)": f"horovod.tensorflow.broadcast_variables({weights}, 0)",
        # Neither hvdkit's fit and callbacks, which refuse it, nor a file of its state, which it cannot give.
        "model.fit(": "type(model).fit.__wrapped__(\n    model,",
        SAVING: "[]",
    }
    result = of_fixture(tmp_path, monkeypatch, edits)
    assert failed(result)[EQUAL] == "HVD712" and RATE not in failed(result)
    told = next(each.detail for each in result.invariants if each.name == EQUAL)
    assert told.endswith("step 1"), "the broadcast was right"


def test_a_copy_that_is_made_after_the_broadcast_and_what_is_saved(tmp_path, monkeypatch):
    result = of_fixture(tmp_path, monkeypatch, {}, "copy", TO_END)
    assert result.code == 0, verdict(result)
    steps = result.comparison.migrated.steps[0]
    names = {tensor.name for step in steps for file in step.saved for tensor in file.tensors}
    assert any(name.startswith("average/") for name in names), "the checkpoint is read"
    assert any(step.printed for step in steps)


def test_a_copy_of_each_ranks_own_weights(tmp_path, monkeypatch):
    """The trained model is the same on every rank; its average is not, and the wrong epoch is printed."""
    edits = {
        "hvd.broadcast(model)\naverage.set_weights(model.get_weights())": (
            "average.set_weights(model.get_weights())\nhvd.broadcast(model)"
        ),
        "epoch {epoch} error": "epoch {epoch + 1} error",
    }
    result = of_fixture(tmp_path, monkeypatch, edits, "copy", TO_END)
    assert result.code == 1
    assert failed(result) == {STATE: "HVD714"}
    stages = {each.stage for each in result.comparison.differences}
    assert {Stage.UNTRAINED, Stage.PRINTED} <= stages and Stage.PARAMETER not in stages


def test_a_strategy_on_more_devices_than_can_be_compared(monkeypatch):
    with pytest.raises(WorldError, match="3 devices"):
        verified(MNIST, monkeypatch, "keras_fit_mirrored.py", f"keras_fit_mirrored_{TARGET}.py", world=3)
