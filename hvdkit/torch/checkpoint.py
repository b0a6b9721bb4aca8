"""`save` and `resume`: a checkpoint that rank 0 alone writes and reads, and that leaves all ranks equal.

Every rank calls them: what rank 0 cannot write or read is an error on all. Not for sharded checkpoints.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from hvdkit.errors import HvdkitError, UsageError
from hvdkit.torch.agreement import together
from hvdkit.torch.broadcast import broadcast
from hvdkit.torch.engine import hvd
from hvdkit.torch.names import plain
from hvdkit.torch.progress import Progress


class CheckpointWriteError(HvdkitError):
    """The checkpoint could not be written; a file that was there before is untouched."""


class CheckpointReadError(HvdkitError):
    """The checkpoint is not there, cut short, or not a checkpoint."""


class CheckpointMismatchError(HvdkitError):
    """The checkpoint does not hold what it should be loaded into."""


def save(path: str | os.PathLike[str], /, **state: Any) -> None:
    """Write a checkpoint on rank 0, whole or not at all. A collective: every rank calls it.

    The file is a dict for `torch.load`: under each keyword the object's `state_dict()`, or the value itself.
    It is written beside `path`, synced to disk and renamed.

        hvd.save("checkpoint.pt", model=model, optimizer=optimizer, epoch=epoch)

    Raises:
        CheckpointWriteError: on rank 0, disk full or not writable; `path` still holds what it held.
        FailedElsewhereError: on the other ranks.
    """
    for value in state.values():
        if isinstance(value, Progress):
            value.gather()
    with together("save"):
        if hvd.rank() == 0:
            _write(Path(path), {name: _state(value) for name, value in state.items()})


def resume(
    path: str | os.PathLike[str], /, *, weights_only: bool = True, missing_ok: bool = False, **objects: Any
) -> dict[str, Any]:
    """Load a checkpoint on rank 0 and make every rank equal to it. A collective: every rank calls it.

    Call it last, when all objects are built and the optimizer is wrapped; no further broadcast is needed.
    Only rank 0 needs to see the file.

        epoch = hvd.resume("checkpoint.pt", model=model, optimizer=optimizer)["epoch"] + 1

    Args:
        path: written by `save`, or any dict of state dicts; or one state dict alone if one object is given.
            Names with the prefixes of DistributedDataParallel and torch.compile are understood.
        weights_only: as in `torch.load`. Without it a file can run any code: trust its author.
        missing_ok: where rank 0 sees no file, the objects stay as rank 0 has made them, on every rank, and
            nothing is returned: the first start of a job that may be started again. Rank 0 alone decides.
        objects: entry of the file = what it is loaded into, by `load_state_dict`.

    Returns:
        The file's other entries, the same on every rank; tensors are on the CPU.

    Raises:
        CheckpointReadError: on rank 0, the file is missing, cut short, or not a checkpoint.
        CheckpointMismatchError: on rank 0, an entry is missing or does not fit its object.
        FailedElsewhereError: on the other ranks.
        UsageError: on every rank, an object has no `load_state_dict`.
    """
    for name, value in objects.items():
        if not hasattr(value, "load_state_dict"):
            raise UsageError(
                f"{name}= is a {type(value).__name__}, which has no load_state_dict",
                fix=f"leave it out: resume returns the other entries of the file, as in `[{name!r}]`",
            )
    rest: dict[str, Any] = {}
    with together("resume"):
        if hvd.rank() == 0:
            if not missing_ok or Path(path).exists():
                rest = _load(Path(path), objects, weights_only)
    return _equalise(objects, rest)


def _equalise(objects: Mapping[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    """Give every rank what rank 0 has loaded; returns rank 0's `rest`."""
    modules = {name: value for name, value in objects.items() if isinstance(value, nn.Module)}
    optimizers = [value for value in objects.values() if isinstance(value, torch.optim.Optimizer)]
    if modules:
        broadcast(modules)
    for optimizer in optimizers:
        broadcast(optimizer=optimizer)
    tensors = {name for name in objects if name in modules or objects[name] in optimizers}
    others = {name: value for name, value in objects.items() if name not in tensors}
    states = {name: value.state_dict() for name, value in others.items()}
    states, rest = hvd.broadcast_object((states, rest), root_rank=0, name="hvdkit.resume")
    with together("resume"):
        for name, value in others.items():
            value.load_state_dict(states[name])
    return rest


def _state(value: Any) -> Any:
    return value.state_dict() if hasattr(value, "state_dict") else value


def _write(path: Path, content: dict[str, Any]) -> None:
    target = path.resolve()  # a link to the newest checkpoint stays a link
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            torch.save(content, file)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
        _sync_directory(target.parent)
    except (OSError, RuntimeError) as error:  # torch turns some failed writes into a RuntimeError
        raise CheckpointWriteError(
            f"cannot write {path}: {error}",
            why="the checkpoint would be lost; the previous contents of the file are intact",
            fix="free space or choose a directory that rank 0 can write to",
        ) from error
    finally:
        with suppress(OSError):  # there after a failure only, and then that is what counts
            temporary.unlink()


def _sync_directory(directory: Path) -> None:
    """Make a rename in it last through a power failure."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _load(path: Path, objects: Mapping[str, Any], weights_only: bool) -> dict[str, Any]:
    """Load the file's entries into the objects; returns the entries that no object takes."""
    content = _read(path, weights_only)
    if len(objects) == 1 and all(isinstance(value, Tensor) for value in content.values()):
        content = {next(iter(objects)): content}  # `torch.save(model.state_dict(), path)`
    missing = [name for name in objects if name not in content]
    if missing:
        raise CheckpointMismatchError(
            f"{path} has no entry {', '.join(map(repr, missing))}; it has {', '.join(map(repr, content))}",
            why="anything that is not loaded would silently start over",
            fix="pass each object under its name in the file, or leave out what was not saved",
        )
    for name, value in objects.items():
        state = content[name]
        try:
            if isinstance(value, nn.Module):
                _rename_as_in(value, state)
            value.load_state_dict(state)
        except Exception as error:  # each class has its own way of refusing
            raise CheckpointMismatchError(
                f"entry {name!r} of {path} does not fit this {type(value).__name__}: {error}",
                why="it was saved from an object of a different shape",
                fix="build it as it was when it was saved",
            ) from error
    return {name: value for name, value in content.items() if name not in objects}


def _read(path: Path, weights_only: bool) -> dict[str, Any]:
    try:
        content = torch.load(path, map_location="cpu", weights_only=weights_only)
    except Exception as error:  # what pickle makes of a broken file is any exception
        raise CheckpointReadError(
            f"cannot read {path} on rank 0: {type(error).__name__}: {error}",
            why="the job would start over, or each rank from a different state",
            fix="name a checkpoint that was written completely"
            + ("; weights_only=False reads any object, if you trust its author" if weights_only else ""),
        ) from error
    if not isinstance(content, dict):
        raise CheckpointReadError(
            f"{path} holds a {type(content).__name__}, not a dict of state dicts",
            fix="save it with hvd.save(path, model=model, ...)",
        )
    return content


def _rename_as_in(model: nn.Module, state: dict[str, Any]) -> None:
    """Give the entries the model's names: DDP puts "module." before them, torch.compile "_orig_mod."."""
    own = {plain(name): name for name in model.state_dict()}
    for name in list(state):
        bare = plain(name)
        if bare not in own:
            bare = bare.removeprefix("module.")
        if bare in own and own[bare] != name:
            state[own[bare]] = state.pop(name)
