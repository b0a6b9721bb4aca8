"""The MNIST example: its migrations are what `hvdkit migrate` writes today, and its loader reads IDX."""

from __future__ import annotations

import gzip
import importlib
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options

MNIST = Path(__file__).parents[2] / "examples" / "mnist"
SCRIPTS = (
    "train",
    "train_ddp",
    "keras_fit",
    "keras_fit_mirrored",
    "keras_tape",
    "keras_tape_mirrored",
)


@pytest.mark.parametrize("target", ["horovod", "hvdkit"])
@pytest.mark.parametrize("script", SCRIPTS)
def test_committed_migration_is_todays(script: str, target: str) -> None:
    path = MNIST / f"{script}.py"
    plan = make_plan([path], Options(target))
    assert not plan.left
    after = next(file.after for file in plan.files if file.path == path)
    assert after == (MNIST / f"{script}_{target}.py").read_text()


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """examples/mnist/data.py, imported as the examples do: from beside it."""
    monkeypatch.syspath_prepend(MNIST)
    yield importlib.import_module("data")
    for name in ("data", "digits"):
        sys.modules.pop(name, None)


def write_idx(path: Path, array: np.ndarray) -> None:
    """An IDX file of unsigned bytes, gzipped when the name says so."""
    header = struct.pack(">HBB", 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    raw = header + array.astype(np.uint8).tobytes()
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)


def test_idx_files_are_read(data: ModuleType, tmp_path: Path) -> None:
    images = np.random.RandomState(0).randint(0, 256, (5, 28, 28))
    for part, suffix in (("train", ""), ("t10k", ".gz")):
        write_idx(tmp_path / f"{part}-images-idx3-ubyte{suffix}", images)
        write_idx(tmp_path / f"{part}-labels-idx1-ubyte{suffix}", np.arange(5))
    train, test = data.load(tmp_path)
    assert len(train) == len(test) == 5
    pixels, label = train[3]
    assert pixels.shape == (1, 28, 28)
    assert label == 3
    np.testing.assert_allclose(
        pixels[0].numpy() * data.digits.STD + data.digits.MEAN, images[3] / 255, atol=1e-6
    )


def test_keras_gets_the_same_pixels_as_torch(data: ModuleType) -> None:
    (images, labels), _ = data.digits.load()
    train, _ = data.load()
    scaled = data.digits.scaled(images)
    assert scaled.shape == (1437, 28, 28, 1)
    np.testing.assert_allclose(scaled[..., 0], train.tensors[0][:, 0].numpy(), atol=1e-6)
    np.testing.assert_array_equal(labels, train.tensors[1].numpy())


def test_a_missing_idx_file_is_named(data: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="train-images-idx3-ubyte"):
        data.load(tmp_path)


def test_the_digits_are_split_without_overlap(data: ModuleType) -> None:
    train, test = data.load()
    assert (len(train), len(test)) == (1437, 360)
    rows = {tensor.numpy().tobytes() for tensor in train.tensors[0]}
    assert not any(tensor.numpy().tobytes() in rows for tensor in test.tensors[0])
