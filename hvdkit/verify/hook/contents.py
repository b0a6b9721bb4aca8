"""What a rank saves: every tensor and array in what is given to torch.save, numpy and safetensors."""

from __future__ import annotations

import functools
import hashlib
import io
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from hvdkit.observe.imports import after_import
from hvdkit.observe.records import Saved, Tensor
from hvdkit.verify.hook.files import watch_files
from hvdkit.verify.hook.places import place_of
from hvdkit.verify.hook.recorder import Recorder
from hvdkit.verify.hook.stored import watch_h5py
from hvdkit.verify.hook.tensors import digest

# What is told: an object and the file that it goes into.
Tell = Callable[[Any, object], None]


def saved(file: str, content: Any) -> Saved:
    """The record of an object that is saved. A wrapper's "module." in the names does not count."""
    return Saved(file, tuple(_tensors((), content)), place_of())


def watch_saves(recorder: Recorder) -> None:
    """Files that are written, and what is saved in them."""
    note = watch_files(recorder)

    def tell(content: Any, target: object) -> None:
        name = note(target.name if isinstance(target, io.IOBase) and hasattr(target, "name") else target)
        if name:
            recorder.saved.append(saved(name, content))

    _watch_torch(tell)
    _watch_numpy(tell)
    after_import({"safetensors.torch": lambda: _watch_safetensors(tell), "h5py": lambda: watch_h5py(note)})


def _tensors(path: tuple[str, ...], value: Any) -> Iterator[Tensor]:
    if isinstance(value, torch.Tensor):
        yield Tensor("/".join(path), tuple(value.shape), str(value.dtype), digest(value), 0.0)
    elif isinstance(value, torch.nn.Module):
        yield from _tensors(path, value.state_dict())
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _tensors((*path, str(key).removeprefix("module.")), item)
    elif isinstance(value, (list, tuple)):
        for place, item in enumerate(value):
            yield from _tensors((*path, str(place)), item)
    elif isinstance(value, (bool, int, float)):
        kind = bool if isinstance(value, bool) else int if isinstance(value, int) else float
        yield Tensor("/".join(path), (), kind.__name__, repr(kind(value)), 0.0)
    elif hasattr(value, "__array_interface__"):
        held = sys.modules["numpy"].ascontiguousarray(value)
        content = hashlib.sha256(held.tobytes()).hexdigest()
        yield Tensor("/".join(path), tuple(held.shape), str(held.dtype), content, 0.0)


def _watch_torch(tell: Tell) -> None:
    """torch.save, which opens its file in C++."""
    save = torch.save

    @functools.wraps(save)
    def watched(obj: object, f: Any, *args: Any, **kwargs: Any) -> None:
        tell(obj, f)
        save(obj, f, *args, **kwargs)

    torch.save = torch.serialization.save = watched


def _watch_numpy(tell: Tell) -> None:
    """numpy.save, savez and savez_compressed, where torch was built with numpy and it is installed."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return

    def of_one(save: Any) -> Any:
        @functools.wraps(save)
        def watched(file: Any, arr: Any, *args: Any, **kwargs: Any) -> None:
            tell(arr, _with_suffix(file, ".npy"))
            save(file, arr, *args, **kwargs)

        return watched

    def of_several(save: Any) -> Any:
        @functools.wraps(save)
        def watched(file: Any, *args: Any, **kwargs: Any) -> None:
            tell(
                {**{f"arr_{place}": held for place, held in enumerate(args)}, **kwargs},
                _with_suffix(file, ".npz"),
            )
            save(file, *args, **kwargs)

        return watched

    numpy.save = of_one(numpy.save)  # type: ignore[attr-defined]
    for name in ("savez", "savez_compressed"):
        setattr(numpy, name, of_several(getattr(numpy, name)))


def _with_suffix(file: Any, suffix: str) -> Any:
    """As numpy names a file."""
    return file + suffix if isinstance(file, str) and not file.endswith(suffix) else file


def _watch_safetensors(tell: Tell) -> None:
    """safetensors.torch's save_file, which save_model calls."""
    module: Any = sys.modules["safetensors.torch"]
    save = module.save_file

    @functools.wraps(save)
    def watched(tensors: Any, filename: Any, *args: Any, **kwargs: Any) -> None:
        tell(tensors, filename)
        save(tensors, filename, *args, **kwargs)

    module.save_file = watched
