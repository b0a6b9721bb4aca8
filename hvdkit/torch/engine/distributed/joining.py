"""join(): a rank without data takes part in the others' allreduces with zeros until all ranks have joined.

torch.distributed has no such rank: an operation waits for all. So a rank that has joined announces it in the
job's store, and from then on the others write down there what they issue. They look for the announcement in a
thread, since at that moment they may be waiting in an operation for the rank that has joined. Until a rank
joins, an operation costs an entry in a list.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any, Callable, NamedTuple, Protocol

from torch import Tensor

from hvdkit.torch.engine.distributed.handles import HorovodInternalError, Work
from hvdkit.torch.engine.distributed.operations import zeros

_LOOK_SECONDS = 0.1
_POLL_SECONDS = 0.001


class Shadowed(Protocol):
    """What an operation is issued on."""

    def shadow(self, op: int, flat: Tensor) -> Work:
        """Take part in an allreduce that other ranks issue."""


class _Issued(NamedTuple):
    key: str
    line: str
    work: Work


class Joins:
    """This rank's side: what it has issued, and whether a rank has joined. store: None in a world of one."""

    def __init__(self, store: Any, rank: int, size: int) -> None:
        self._store = store
        self._rank = rank
        self._size = size
        self._round = 0  # how often all ranks have joined
        self._channels: dict[str, Shadowed] = {}
        self._counts: dict[str, int] = {}
        self._under_way: deque[_Issued] = deque()
        self._joined_elsewhere = False
        self._lock = threading.Lock()
        self._stop = threading.Event()
        if size > 1:
            threading.Thread(target=self._look, daemon=True, name="hvdkit-join").start()

    def add(self, name: str, channel: Shadowed) -> None:
        """A channel whose operations are counted."""
        self._channels[name] = channel
        self._counts[name] = 0

    def issue(self, channel: str, line: str, call: Callable[[], Work]) -> Work:
        """Issue an operation, and keep what a rank that has joined needs to take part in it."""
        with self._lock:
            work = call()
            entry = _Issued(self._key(f"{channel}/{self._counts[channel]}"), line, work)
            self._counts[channel] += 1
            if self._joined_elsewhere:
                self._store.set(entry.key, entry.line)
            else:
                self._under_way.append(entry)
                while self._under_way and self._under_way[0].work.is_completed():
                    self._under_way.popleft()
        return work

    def refuse_after_join(self, what: str) -> None:
        """Raises HorovodInternalError where a rank has joined: nothing stands for its part of `what`."""
        if self._joined_elsewhere:
            raise HorovodInternalError(f"{what} is not supported with join(): a rank has joined already")

    def join(self) -> int:
        """Take part with zeros until all ranks have joined. Returns the rank that joined last."""
        if self._size == 1:
            return 0
        self._write_down(self._round)
        self._store.set(self._key("joined"), "1")
        if self._store.add(self._key("count"), 1) == self._size:
            self._store.set(self._key("last"), str(self._rank))
        self._follow()
        last = int(self._store.get(self._key("last")))
        with self._lock:
            self._round += 1
            self._joined_elsewhere = False
            self._under_way.clear()
        return last

    def stop(self) -> None:
        """Look no more."""
        self._stop.set()

    def _key(self, name: str) -> str:
        return f"join/{self._round}/{name}"

    def _follow(self) -> None:
        """Issue what the others issue, in the order of each channel, until the last rank has joined."""
        works: list[Work] = []
        while True:
            # Asked before the channels are: a rank writes down what it has issued, and then joins.
            over = self._store.check([self._key("last")])
            followed = [self._follow_one(name) for name in self._channels]
            works += [work for work in followed if work is not None]
            if over and not any(followed):
                break
            if not any(followed):
                time.sleep(_POLL_SECONDS)
        for work in works:
            work.wait()

    def _follow_one(self, channel: str) -> Work | None:
        key = self._key(f"{channel}/{self._counts[channel]}")
        if not self._store.check([key]):
            return None
        line = self._store.get(key).decode()
        found = zeros(line)
        if found is None:
            raise HorovodInternalError(f"{line} is not supported with join(): rank {self._rank} has joined")
        self._counts[channel] += 1
        return self._channels[channel].shadow(*found)

    def _look(self) -> None:
        while not self._stop.wait(_LOOK_SECONDS):
            number = self._round
            try:
                if not self._joined_elsewhere and self._store.check([self._key("joined")]):
                    self._write_down(number)
            except RuntimeError:
                return  # the store went with rank 0: the job is over

    def _write_down(self, number: int) -> None:
        """Write down what is under way and whatever follows, unless the round is over."""
        with self._lock:
            if number != self._round or self._joined_elsewhere:
                return
            self._joined_elsewhere = True
            for entry in self._under_way:
                self._store.set(entry.key, entry.line)
            self._under_way.clear()
