"""The watch of a job, at the launcher: compares what the ranks record, and names the rank others wait for.

The ranks never wait for it and it asks them for nothing, so that it cannot come between them. What they
record is in hvdkit.sync; it arrives over the lifeline.
"""

from __future__ import annotations

import contextlib
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from hvdkit.errors import HvdkitError
from hvdkit.launch.standing import Standing
from hvdkit.sync.disagreement import differing, in_words, out_of_sync
from hvdkit.sync.evidence import Evidence
from hvdkit.sync.stack import Frame

_OPEN = 8  # comparisons of an optimizer that some ranks have not come to; what is older, they never do

# What an optimizer is called, and the ranks that share it.
_Key = tuple[str, tuple[int, ...]]


class Watch:
    """One job's. Events are put in by any thread, and looked at by one."""

    def __init__(self, ranks: int, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic):
        self._say = say
        self._events: SimpleQueue[tuple[int, str, Mapping[str, Any]]] = SimpleQueue()
        self._standing = Standing(ranks, clock)
        self._states: dict[_Key, dict[int, dict[int, Mapping[str, Any]]]] = {}  # by step, by rank
        self._agreed: set[_Key] = set()
        self._devices: dict[tuple[str, str], int] = {}
        self._said: set[object] = set()
        self.parted: HvdkitError | None = None

    def hear(self, rank: int, host: str, event: Mapping[str, Any]) -> None:
        """A rank's end of the lifeline passes something on."""
        self._events.put((rank, host, event))

    def look(self) -> None:
        """Handle what was heard. Sets `parted` where the ranks no longer train one model; says the rest."""
        while not self._events.empty():
            rank, host, event = self._events.get()
            with self._guarded():
                self._handle(rank, host, event)
        with self._guarded():
            for what, text in (*self._standing.stopped(), *self._standing.waiting()):
                self._say_once(what, text)

    def uneven(self, left: Iterable[int] = ()) -> str:
        """Which ranks ended their training first, and where each rank was; "" where that is not known.

        left: ranks that ended well, with or without hvd.shutdown().
        """
        return self._standing.uneven(left)

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """An error of the watch itself is one line, and ends no job that trains."""
        try:
            yield
        except Exception as error:  # whatever it is, it is none of the job's
            place = traceback.extract_tb(error.__traceback__)[-1]
            self._fault(f"{type(error).__name__}: {error}, {Path(place.filename).name}:{place.lineno}")

    def _fault(self, what: str) -> None:
        self._say_once(
            "fault",
            f"the watch failed and compares less from now on; the job is not affected ({what}); "
            "--no-watch leaves it out",
        )

    def _handle(self, rank: int, host: str, event: Mapping[str, Any]) -> None:
        if "at" in event:
            process, steps, waits, stopped = event["at"]
            self._standing.moved(rank, host, int(process), int(steps), bool(waits), bool(stopped))
        if "stack" in event:
            self._standing.found(rank, [Frame(*frame) for frame in event["stack"]])
        if "left" in event:
            self._standing.left(rank)
        if "ended" in event:
            self._standing.ended(rank)
        if "fault" in event:
            self._fault(f"rank {rank}, {event['fault']}")
        if "state" in event:
            self._note_device(rank, host, event["state"]["device"])
            self._compare(rank, event["state"])
        if "no_overlap" in event:
            self._say_once(
                "no_overlap",
                f"no reduction is under way when backward() ends ({event['no_overlap']}): gradients are "
                "reduced one after another inside step()\n"
                "  why: a model that is moved or converted after DistributedOptimizer is created loses "
                "the hooks that reduce its gradients\n"
                "  fix: .cuda(), .to() or .double() first, then DistributedOptimizer(...)",
            )

    def _compare(self, rank: int, state: Mapping[str, Any]) -> None:
        step, ranks = int(state["step"]), tuple(state["ranks"])
        key = str(state["key"]), ranks
        self._standing.trains_with(rank, ranks)
        steps = self._states.setdefault(key, {})
        heard = steps.setdefault(step, {})
        heard[rank] = state
        while len(steps) > _OPEN:
            del steps[min(steps)]
        if not heard.keys() >= {*ranks}:
            return
        self._states[key] = {later: steps[later] for later in steps if later > step}
        tables = [heard[each]["table"] for each in ranks]
        names = differing(tables)
        if not names:
            self._agreed.add(key)
            return
        evidence = [
            replace(Evidence(**heard[each]["evidence"]), agreed=key in self._agreed) for each in ranks
        ]
        moment = f"after step {step} of {key[0].split()[0]}: "
        error = out_of_sync(names, tables, evidence, ranks, moment)
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

    def _say_once(self, what: object, text: str) -> None:
        if what not in self._said:
            self._said.add(what)
            self._say(text)


def _is_one_model(evidence: list[Evidence]) -> bool:
    """Whether the ranks are meant to train one: otherwise a difference is none of our business."""
    return any(rank.wrapped or rank.counts.get("broadcast") for rank in evidence)
