"""The contents of HDF5 files and of Keras' own, read from what was written."""

from __future__ import annotations

import hashlib
import zipfile

import h5py
import numpy as np
import pytest

from hvdkit.verify.hook.stored import stored, watch_h5py

KERNEL = np.arange(6, dtype="float32").reshape(2, 3)


def write(path) -> None:
    with h5py.File(path, "w") as file:
        file.create_group("layers/dense")["kernel"] = KERNEL
        file.attrs["backend"] = "tensorflow"
        file["count"] = 7


@pytest.mark.parametrize("name", ["model.h5", "model.weights.h5", "model.hdf5", "model.keras"])
def test_every_array_by_its_path(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    write("inner.h5")
    if name.endswith(".keras"):
        with zipfile.ZipFile(name, "w") as archive:
            archive.writestr("config.json", "{}")
            archive.write("inner.h5", "model.weights.h5")
    else:
        write(name)
    [found] = stored([name, "gone.h5", "notes.txt"])
    assert found.file == name
    tensors = {tensor.name: tensor for tensor in found.tensors}
    kernel = tensors["layers/dense/kernel"]
    assert (kernel.shape, kernel.dtype) == ((2, 3), "float32")
    assert kernel.digest == hashlib.sha256(KERNEL.tobytes()).hexdigest()
    assert tensors["count"].shape == ()


def test_what_is_no_such_file_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("torch.h5", "half.keras"):
        (tmp_path / name).write_bytes(b"PK\x03\x04 something else")
    assert list(stored(["torch.h5", "half.keras"])) == []


def test_files_that_the_library_opens_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(h5py.File, "__init__", h5py.File.__init__)
    noted: list[object] = []
    watch_h5py(noted.append)
    write("model.h5")
    with h5py.File("model.h5") as file:
        assert "count" in file
    assert noted == ["model.h5"]
