"""The ranks of the job: their process group, their numbers, and the channels that collectives go through.

A channel is a process group with a count of its operations. On one channel all ranks issue the same
operations in the same order. The script's own collectives share a channel; each DistributedOptimizer has its
own, because the moment at which backward() completes a bucket differs between ranks.
"""

from __future__ import annotations

import atexit
import os
from dataclasses import dataclass, field
from typing import Any, Callable
from weakref import WeakValueDictionary

import torch
import torch.distributed as dist
from torch import Tensor

from hvdkit.errors import UsageError
from hvdkit.guards import NotInitializedError
from hvdkit.torch.engine.distributed.handles import Work
from hvdkit.torch.engine.distributed.joining import Joins
from hvdkit.torch.engine.distributed.launch import Place, find_place
from hvdkit.torch.engine.distributed.not_offered import NotOffered, refuse
from hvdkit.torch.engine.distributed.operations import REDUCTIONS, Max, describe

_SETS = "use torch.distributed.new_group and pass no process_set"
_CHANNELS = 256  # optimizers that are alive at a time


class _Nothing:
    """The operation of a world of one, which is always done."""

    def is_completed(self) -> bool:
        return True

    def wait(self) -> None:
        """Nothing to wait for."""


class Channel:
    """A process group, whose operations all ranks issue in the same order."""

    def __init__(self, name: str, group: Any, joins: Joins) -> None:
        self.name = name
        self.group = group
        self._joins = joins
        joins.add(name, self)

    def all_reduce(self, flat: Tensor, op: int) -> Work:
        """Reduce in place. A rank that has joined takes part with zeros."""
        if size() == 1:
            return _Nothing()
        return self._joins.issue(self.name, describe(op, flat), lambda: self.shadow(op, flat))

    def shadow(self, op: int, flat: Tensor) -> Work:
        """Take part in an allreduce that other ranks issue."""
        work: Work = dist.all_reduce(flat, REDUCTIONS[op], group=self.group, async_op=True)
        return work

    def run(self, what: str, call: Callable[[], Work]) -> Work:
        """Issue a collective in which every rank takes part. Raises HorovodInternalError after a join()."""
        if size() == 1:
            return _Nothing()
        self._joins.refuse_after_join(what)
        return self._joins.issue(self.name, what, call)


@dataclass
class _Job:
    """What exists between init() and shutdown()."""

    place: Place
    ours: bool  # whether the process group is ours to destroy
    joins: Joins
    script: Channel
    gradients: dict[int, Channel] = field(default_factory=dict)
    lent: WeakValueDictionary[int, Any] = field(default_factory=WeakValueDictionary)


class _State:
    job: _Job | None = None


class _GlobalProcessSet:
    """All ranks: the only process set there is."""

    process_set_id = 0

    @property
    def ranks(self) -> list[int]:
        """All of them."""
        return list(range(size()))

    def size(self) -> int:
        """The number of ranks."""
        return size()

    def rank(self) -> int:
        """This process's rank."""
        return rank()

    def included(self) -> bool:
        """Whether this process is one of the ranks."""
        return True


global_process_set = _GlobalProcessSet()
ProcessSet = NotOffered("ProcessSet", _SETS)
add_process_set = NotOffered("add_process_set", _SETS)
remove_process_set = NotOffered("remove_process_set", _SETS)


def check_process_set(process_set: object) -> None:
    """Raises NotOfferedError unless it is the one of all ranks."""
    if process_set is not global_process_set:
        refuse("a process set", _SETS)


def init(comm: Any = None, process_sets: Any = None) -> None:
    """Connect the ranks. Calling it again does nothing.

    Raises:
        LaunchEnvironmentError: a launcher's variables are there, and do not say how the ranks connect.
        MeetingError: a rank did not come in time.
        NotOfferedError: a communicator or process sets are given.
    """
    if comm:
        refuse("init(comm=...)", "call init() without it")
    if process_sets:
        refuse("init(process_sets=...)", _SETS)
    if _State.job is not None:
        return
    ours = not dist.is_initialized()
    place = find_place(os.environ)
    if ours and place.size > 1:
        dist.init_process_group(
            _backend(),
            store=place.store,
            rank=place.rank,
            world_size=place.size,
        )
    joins = Joins(place.store, place.rank, place.size)
    _State.job = _Job(place, ours, joins, Channel("script", None, joins))
    atexit.register(shutdown)


def shutdown() -> None:
    """Disconnect this process. A process group that the script made itself stays."""
    job, _State.job = _State.job, None
    atexit.unregister(shutdown)
    if job is None:
        return
    job.joins.stop()
    for channel in job.gradients.values():
        if channel.group is not None and dist.is_initialized():
            dist.destroy_process_group(channel.group)
    if job.ours and dist.is_initialized():
        dist.destroy_process_group()


def is_initialized() -> bool:
    """Whether init() was called, and shutdown() was not."""
    return _State.job is not None


def _job() -> _Job:
    if _State.job is None:
        raise NotInitializedError(
            "hvdkit.torch is not initialized",
            why="rank and size are unknown, so nothing can be reduced",
            fix="call hvd.init() once at the start of the program",
        )
    return _State.job


def _backend() -> str:
    return "cpu:gloo,cuda:nccl" if torch.cuda.is_available() and dist.is_nccl_available() else "gloo"


def backend() -> str:
    """The name of the backend, for people."""
    return dist.get_backend() if _job().place.size > 1 else "alone"


def rank() -> int:
    """This process's number in the job."""
    return _job().place.rank


def size() -> int:
    """The number of processes in the job."""
    return _job().place.size


def local_rank() -> int:
    """This process's number on its host."""
    return _job().place.local_rank


def local_size() -> int:
    """The number of processes on this host."""
    return _job().place.local_size


def cross_rank() -> int:
    """The number of this host among those that have this local rank."""
    return _job().place.cross_rank


def cross_size() -> int:
    """The number of hosts that have this local rank."""
    return _job().place.cross_size


def is_homogeneous() -> bool:
    """Whether all hosts run the same number of processes."""
    return _job().place.homogeneous


def script_channel() -> Channel:
    """The channel of the collectives that a script calls itself."""
    return _job().script


def lend_channel(holder: object) -> Channel:
    """A channel for the gradients of one optimizer, for as long as `holder` is alive. Every rank calls it.

    An optimizer that nobody holds any more is collected at a different moment on each rank: the ranks agree
    on the first channel that is free on all of them.
    """
    job = _job()
    if job.place.size == 1:
        return job.script
    used = torch.zeros(_CHANNELS, dtype=torch.uint8)
    used[[*job.lent.keys()]] = 1
    job.script.all_reduce(used, Max).wait()
    free = (used == 0).nonzero()
    if not len(free):
        raise UsageError(
            f"{_CHANNELS} optimizers are distributed at a time",
            fix="hvd.unwrap(optimizer) those that are done",
        )
    number = int(free[0])
    if number not in job.gradients:
        job.gradients[number] = Channel(f"gradients.{number}", dist.new_group(), job.joins)
    job.lent[number] = holder
    return job.gradients[number]


def join(device: int = -1) -> int:
    """This rank has no more data: take part in the others' allreduces with zeros until all ranks have joined.

    Returns the rank that joined last.
    """
    return _job().joins.join()
