"""Where each rank of a job is, and which of them stand still: who is stopped, who is waited for, who wait for
each other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from hvdkit.sync import stack
from hvdkit.sync.disagreement import in_words
from hvdkit.sync.stack import Frame

# The bounds that docs/run.md states.
STOPPED_S = 5.0
WAIT_S = 20.0
# A process that is found at one place so long, each time that it is asked, has not left it.
_STILL_S = 6.0


@dataclass(frozen=True)
class At:
    """Where a rank is, and since when. stopped: its process is, by a signal."""

    host: str
    process: int
    steps: int
    waits: bool
    stopped: bool
    since: float


@dataclass(frozen=True)
class _Found:
    """The stack of a rank that has not moved, and since when it is that."""

    frames: list[Frame]
    since: float


class Standing:
    """Of one job. What it yields is something to say, and the text: say each once."""

    def __init__(self, ranks: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._ranks, self._clock = ranks, clock
        self._at: dict[int, At] = {}
        self._found: dict[int, _Found] = {}
        self._ended: set[int] = set()  # hvd.shutdown()
        self._left: set[int] = set()  # its process ended well
        self._shared: dict[int, set[int]] = {}  # with whom a rank trains

    def moved(self, rank: int, host: str, process: int, steps: int, waits: bool, stopped: bool) -> None:
        """A rank has taken a step, begins to wait, has been stopped, or goes on."""
        self._at[rank] = At(host, process, steps, waits, stopped, self._clock())
        self._found.pop(rank, None)

    def found(self, rank: int, frames: list[Frame]) -> None:
        """Where a rank was found that has not moved."""
        known = self._found.get(rank)
        if known is None or known.frames != frames:
            self._found[rank] = _Found(frames, self._clock())

    def ended(self, rank: int) -> None:
        """A rank has called hvd.shutdown()."""
        self._ended.add(rank)

    def left(self, rank: int) -> None:
        """A rank's process has ended well."""
        self._left.add(rank)

    def trains_with(self, rank: int, others: Iterable[int]) -> None:
        """A rank shares an optimizer with these, itself among them."""
        self._shared.setdefault(rank, set()).update(others)

    def uneven(self, left: Iterable[int] = ()) -> str:
        """Which ranks ended their training first, and where each rank was; "" where that is not known.

        left: ranks that ended well, with or without hvd.shutdown().
        """
        first = self._ended.union(left)
        places = {at.steps + at.waits for at in self._at.values()}
        if len(self._at) < self._ranks or (len(places) == 1 and len(first) in (0, self._ranks)):
            return ""

        def place(rank: int, at: At) -> str:
            if at.waits:
                return f"rank {rank} was in step {at.steps + 1}"
            return f"rank {rank} {'ended' if rank in first else 'went on'} after {at.steps} steps"

        return "; ".join(place(rank, at) for rank, at in sorted(self._at.items()))

    def stopped(self) -> Iterator[tuple[object, str]]:
        """Ranks that a signal has stopped."""
        for rank, at in self._at.items():
            if at.stopped and self._clock() - at.since >= STOPPED_S:
                yield (
                    ("stopped", rank, at.since),
                    f"rank {rank} on {at.host} is stopped, and the others wait for it\n"
                    f"  why: process {at.process} was stopped by a signal (SIGSTOP, Ctrl-Z, a debugger)\n"
                    f"  fix: on {at.host}, kill -CONT {at.process}",
                )

    def waiting(self) -> Iterator[tuple[object, str]]:
        """Ranks that wait for others, which do not wait; or all of them, for each other."""
        waiting = [rank for rank in sorted(self._at) if self._waits(rank)]
        if not waiting:
            return
        late = self._late(waiting)
        if late:
            yield ("late", *late), self._for_late(waiting, late)
        elif len(waiting) == self._ranks:
            yield from self._for_each_other(waiting)

    def _waits(self, rank: int) -> bool:
        """Whether it has waited for other ranks for so long, at one place."""
        at, found = self._at[rank], self._found.get(rank)
        if self._clock() - at.since < WAIT_S:
            return False
        still = found is not None and self._clock() - found.since >= _STILL_S
        return at.waits or (still and stack.waits(self._frames(rank)))

    def _frames(self, rank: int) -> list[Frame]:
        return self._found[rank].frames if rank in self._found else []

    def _late(self, waiting: list[int]) -> list[int]:
        """Those that the waiting ranks wait for: ranks that do not wait, and are not ahead of them."""
        first = self._at[waiting[0]]
        # A step of an optimizer waits for the ranks that share it; any other call may be for all of them.
        in_step = all(self._at[rank].waits and rank in self._shared for rank in waiting)
        asked = set().union(*(self._shared[rank] for rank in waiting)) if in_step else {*self._at}
        return [
            rank
            for rank, at in sorted(self._at.items())
            if rank in asked
            and not at.waits
            and not at.stopped
            and at.steps <= first.steps
            and not stack.waits(self._frames(rank))
            # Outside of a step of Horovod's, who waits and who does not is known by the stack alone.
            and (self._frames(rank) or rank in self._left or first.waits)
        ]

    def _for_late(self, waiting: list[int], late: list[int]) -> str:
        taken = ", ".join(str(self._at[rank].steps) for rank in late)
        places = "".join(
            f"\n  {self._where(rank, stack.place(self._frames(rank)))}"
            for rank in late
            if stack.place(self._frames(rank)) and rank not in self._left
        )
        places += "".join(
            f"\n  rank {rank} on {self._at[rank].host} has ended" for rank in late if rank in self._left
        )
        return (
            f"{in_words(waiting)} waited {WAIT_S:.0f} s in step {self._at[waiting[0]].steps + 1} for "
            f"{in_words(late)}, which took {taken} and did not start it{places}\n"
            "  why: fewer batches, a loop that ended early, or work that this rank does alone\n"
            "  fix: the same number of steps on all ranks: DistributedSampler, drop_last=True"
        )

    def _for_each_other(self, waiting: list[int]) -> Iterator[tuple[object, str]]:
        """Where ranks that all wait are in different lines: a slow network is at one line of all ranks."""
        own = {rank: stack.own(self._frames(rank)) for rank in waiting}
        # Who is in a long backward pass may still compute.
        inside = all(self._at[rank].waits or stack.in_collective(self._frames(rank)) for rank in waiting)
        if not inside or not all(own.values()):
            return
        depth = stack.parting(list(own.values()))
        if depth is None:
            return
        groups: dict[str, list[int]] = {}
        for rank in waiting:
            frames = own[rank]
            groups.setdefault(stack.at(frames[min(depth, len(frames) - 1)]), []).append(rank)
        places = "".join(
            f"\n  {self._where(ranks[0], place) if len(ranks) == 1 else f'{in_words(ranks)}: {place}'}"
            for place, ranks in groups.items()
        )
        yield (
            ("each other", *groups),
            f"{in_words(waiting)} waited {WAIT_S:.0f} s for each other, in different calls{places}\n"
            "  why: each waits in a collective that the others do not call: it is in a branch that only some "
            "ranks take, or the order differs\n"
            "  fix: call the same collectives in the same order on all ranks",
        )

    def _where(self, rank: int, place: str) -> str:
        at = self._at[rank]
        return (
            f"rank {rank} on {at.host}: {place}, for {self._clock() - at.since:.0f} s, process {at.process}"
        )
