"""The watch of a job, at the launcher: compares what the ranks record, and names the rank others wait for.

The ranks never wait for it and it asks them for nothing, so that it cannot come between them. What they
record is in hvdkit.sync; it arrives over the lifeline.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import Any

from hvdkit.errors import HvdkitError
from hvdkit.sync import stack
from hvdkit.sync.disagreement import differing, in_words, out_of_sync
from hvdkit.sync.evidence import Evidence
from hvdkit.sync.stack import Frame

# The bounds that docs/run.md states.
STOPPED_S = 5.0
WAIT_S = 20.0


@dataclass(frozen=True)
class _At:
    """Where a rank is, and since when. stopped: its process is, by a signal."""

    host: str
    process: int
    steps: int
    waits: bool
    stopped: bool
    since: float


class Watch:
    """One job's. Events are put in by any thread, and looked at by one."""

    def __init__(self, ranks: int, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic):
        self._say, self._clock = say, clock
        self._ranks = ranks
        self._events: SimpleQueue[tuple[int, str, Mapping[str, Any]]] = SimpleQueue()
        self._at: dict[int, _At] = {}
        self._stacks: dict[int, list[Frame]] = {}  # of ranks that have not moved since
        self._states: dict[tuple[str, int], dict[int, Mapping[str, Any]]] = {}
        self._agreed: set[str] = set()
        self._ended: set[int] = set()  # hvd.shutdown()
        self._left: set[int] = set()  # its process ended well
        self._devices: dict[tuple[str, str], int] = {}
        self._said: set[object] = set()
        self.parted: HvdkitError | None = None

    def hear(self, rank: int, host: str, event: Mapping[str, Any]) -> None:
        """A rank's end of the lifeline passes something on."""
        self._events.put((rank, host, event))

    def look(self) -> None:
        """Handle a message. Sets `parted` where the ranks no longer train the same model; says the rest."""
        while not self._events.empty():
            rank, host, event = self._events.get()
            if "at" in event:
                process, steps, waits, stopped = event["at"]
                self._at[rank] = _At(host, process, steps, bool(waits), bool(stopped), self._clock())
                self._stacks.pop(rank, None)
            if "stack" in event:
                self._stacks[rank] = [Frame(*frame) for frame in event["stack"]]
            if "left" in event:
                self._left.add(rank)
            if "ended" in event:
                self._ended.add(rank)
            if "state" in event:
                self._compare(rank, event["state"])
                self._note_device(rank, host, event["state"]["device"])
            if "no_overlap" in event:
                self._say_once(
                    "no_overlap",
                    f"no reduction is under way when backward() ends ({event['no_overlap']}): gradients are "
                    "reduced one after another inside step()\n"
                    "  why: a model that is moved or converted after DistributedOptimizer is created loses "
                    "the hooks that reduce its gradients\n"
                    "  fix: .cuda(), .to() or .double() first, then DistributedOptimizer(...)",
                )
        self._look_for_stopped()
        self._look_for_waiting()

    def uneven(self, left: Iterable[int] = ()) -> str:
        """Which ranks ended their training first, and where each rank was; "" where that is not known.

        left: ranks that ended well, with or without hvd.shutdown().
        """
        first = self._ended.union(left)
        places = {at.steps + at.waits for at in self._at.values()}
        if len(self._at) < self._ranks or (len(places) == 1 and len(first) in (0, self._ranks)):
            return ""

        def place(rank: int, at: _At) -> str:
            if at.waits:
                return f"rank {rank} was in step {at.steps + 1}"
            return f"rank {rank} {'ended' if rank in first else 'went on'} after {at.steps} steps"

        return "; ".join(place(rank, at) for rank, at in sorted(self._at.items()))

    def _compare(self, rank: int, state: Mapping[str, Any]) -> None:
        key, step, ranks = str(state["key"]), int(state["step"]), list(state["ranks"])
        heard = self._states.setdefault((key, step), {})
        heard[rank] = state
        if len(heard) < len(ranks):
            return
        del self._states[key, step]
        tables = [heard[each]["table"] for each in ranks]
        names = differing(tables)
        if not names:
            self._agreed.add(key)
            return
        evidence = [
            replace(Evidence(**heard[each]["evidence"]), agreed=key in self._agreed) for each in ranks
        ]
        error = out_of_sync(names, tables, evidence, ranks, f"after step {step} of {key.split()[0]}: ")
        if self.parted is None and _is_one_model(evidence):
            self.parted = error
        elif self.parted is None:
            self._say_once(
                key,
                f"{error.seen}\n  why: nothing is broadcast and the optimizer reduces nothing: each "
                "rank trains a different model\n  fix: if one model is intended, use "
                "hvd.DistributedOptimizer and hvd.broadcast_parameters",
            )

    def _note_device(self, rank: int, host: str, device: str) -> None:
        other = self._devices.setdefault((host, device), rank)
        if device and other != rank:
            self._say_once(
                (host, device),
                f"{in_words((other, rank))} on {host} compute on one GPU, {device}\n"
                "  why: they slow each other down, and NCCL refuses two ranks on a GPU\n"
                "  fix: torch.cuda.set_device(hvd.local_rank()) before the model is moved",
            )

    def _look_for_stopped(self) -> None:
        for rank, at in self._at.items():
            if not at.stopped:
                self._said.discard(("stopped", rank))
            elif self._clock() - at.since >= STOPPED_S:
                self._say_once(
                    ("stopped", rank),
                    f"rank {rank} on {at.host} is stopped, and the others wait for it\n"
                    f"  why: process {at.process} was stopped by a signal (SIGSTOP, Ctrl-Z, a debugger)\n"
                    f"  fix: on {at.host}, kill -CONT {at.process}",
                )

    def _look_for_waiting(self) -> None:
        waiting = [
            rank
            for rank, at in sorted(self._at.items())
            if self._clock() - at.since >= WAIT_S and (at.waits or stack.waits(self._stacks.get(rank, [])))
        ]
        if not waiting:
            return
        steps = self._at[waiting[0]].steps
        known = {rank: self._stacks.get(rank, []) for rank in self._at}
        late = [
            rank
            for rank, at in sorted(self._at.items())
            if not at.waits
            and not at.stopped
            and at.steps <= steps
            and not stack.waits(known[rank])
            # Outside of a step of Horovod's, who waits and who does not is known by the stack alone.
            and (known[rank] or rank in self._left or self._at[waiting[0]].waits)
        ]
        if not late:
            return
        taken = ", ".join(str(self._at[rank].steps) for rank in late)
        places = "".join(
            f"\n  rank {rank} on {self._at[rank].host}: {stack.place(known[rank])}, for "
            f"{self._clock() - self._at[rank].since:.0f} s, process {self._at[rank].process}"
            for rank in late
            if stack.place(known[rank]) and rank not in self._left
        )
        places += "".join(
            f"\n  rank {rank} on {self._at[rank].host} has ended" for rank in late if rank in self._left
        )
        self._say_once(
            ("late", *late),
            f"{in_words(waiting)} waited {WAIT_S:.0f} s in step {steps + 1} for {in_words(late)}, "
            f"which took {taken} and did not start it{places}\n"
            "  why: fewer batches, a loop that ended early, or work that this rank does alone\n"
            "  fix: the same number of steps on all ranks: DistributedSampler, drop_last=True",
        )

    def _say_once(self, what: object, text: str) -> None:
        if what not in self._said:
            self._said.add(what)
            self._say(text)


def _is_one_model(evidence: list[Evidence]) -> bool:
    """Whether the ranks are meant to train one: otherwise a difference is none of our business."""
    return any(rank.wrapped or rank.counts.get("broadcast") for rank in evidence)
