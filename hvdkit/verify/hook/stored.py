"""What is in the files of HDF5 and Keras that a rank has written: every array, by its path in the file.

Read from the file itself before the next record, so that it does not matter which library wrote it.
"""

from __future__ import annotations

import functools
import hashlib
import io
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from hvdkit.observe.records import Saved, Tensor

HDF5 = (".h5", ".hdf5", ".he5")
KERAS = ".keras"


def stored(names: Iterable[str]) -> Iterator[Saved]:
    """The contents of those among the written files that are HDF5 or Keras' own; relative to this folder.

    One that is gone, or is not complete, is passed over: it is read again where it is written again.
    """
    if "h5py" not in sys.modules:
        return  # nothing wrote one
    for name in names:
        path = Path(name)
        if path.suffix not in (*HDF5, KERAS) or not path.is_file():
            continue
        try:
            yield Saved(name, tuple(_tensors(path)))
        except (OSError, zipfile.BadZipFile):
            continue


def _tensors(path: Path) -> Iterator[Tensor]:
    if path.suffix != KERAS:
        yield from _of_hdf5(path)
        return
    with zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            if member.endswith(HDF5):
                yield from _of_hdf5(io.BytesIO(archive.read(member)))


def _of_hdf5(source: Any) -> list[Tensor]:
    h5py: Any = sys.modules["h5py"]
    found: list[Tensor] = []

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            array = item[()]
            content = hashlib.sha256(array.tobytes() if hasattr(array, "tobytes") else bytes(array))
            found.append(Tensor(name, tuple(item.shape or ()), str(item.dtype), content.hexdigest(), 0.0))

    with h5py.File(source, "r") as file:
        file.visititems(visit)
    return found


def watch_h5py(note: Callable[[object], str]) -> None:
    """Note the files that the HDF5 library opens, which it does itself."""
    h5py: Any = sys.modules["h5py"]
    build = h5py.File.__init__

    @functools.wraps(build)
    def init(self: Any, name: Any, mode: str = "r", *args: Any, **kwargs: Any) -> None:
        if mode != "r":
            note(name)  # an open file is none to note
        build(self, name, mode, *args, **kwargs)

    h5py.File.__init__ = init
