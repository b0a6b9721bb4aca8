"""One node of a node list: it meets the others, runs its ranks, and ends with the job.

Node 0 listens on the control port, where Horovod's rendezvous is, too. The others report there every second;
what ends the job (a rank that fails, a node that falls silent, Ctrl-C) reaches all nodes by the answers.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from types import FrameType

from hvdkit.bootstrap import ranks, secret
from hvdkit.bootstrap.board import BEAT_SECONDS, Board, Failure
from hvdkit.bootstrap.environment import slot_variables
from hvdkit.bootstrap.errors import JobFailedError, MeetingError
from hvdkit.bootstrap.link import Away, Home, Job, plan
from hvdkit.signals import heeded

_LOOK_SECONDS = 0.1
_PATIENCE_SECONDS = 2.0  # then a person wants to know what is waited for


class Interrupted(BaseException):
    """A signal asks this node to end. Not an Exception, as KeyboardInterrupt is none."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def run(job: Job, command: Sequence[str]) -> None:
    """Run this node's ranks to the end of the job.

    Raises:
        MeetingError: a node did not come in time, or the port is not this job's.
        JobFailedError: a rank failed or a node fell silent, here or elsewhere.
        Interrupted: a signal asked this node to end; the other nodes were told.
    """
    board = Board(job.hosts.hosts, job.seconds, () if job.secret else job.addresses)
    link = Home(job, board) if job.place == 0 else Away(job, board)
    mine: list[ranks.Rank] = []
    with _signals():
        try:
            link.open()
            if job.place == 0 and not job.secret:
                who = f"every process on {', '.join(job.addresses)}"
                _tell(secret.warning(job.address, link.port, who, "join this job or end it"))
            _wait_for_go(job, link)
            mine += ranks.start(
                command, _variables(job, link.port), job.first_rank, with_output=job.place == 0
            )
            _watch(job, link, mine)
        except Interrupted as stop:
            ranks.end(mine)
            link.farewell(f"{board.name(job.place)} was ended by {signal.Signals(stop.number).name}")
            raise
        finally:
            ranks.end(mine)
            link.close()


def _wait_for_go(job: Job, link: Home | Away) -> None:
    began, told = time.monotonic(), False
    while True:
        reply = link.say()
        if reply["stop"]:
            raise MeetingError(
                reply["stop"],
                why="a job starts when all of its nodes are connected",
                fix="start the script there, too; HVDKIT_START_TIMEOUT=SECONDS waits longer",
            )
        if reply["go"]:
            break
        if not told and time.monotonic() - began > _PATIENCE_SECONDS:
            _tell(f"waiting for {link.waits_for()}")
            told = True
        time.sleep(_LOOK_SECONDS)
    if job.place:
        _tell(f"{link.board.name(job.place)}: the job's output is on {link.board.name(0)}")


def _watch(job: Job, link: Home | Away, mine: list[ranks.Rank]) -> None:
    said = 0.0
    failed: Failure | None = None
    done = False
    while True:
        if failed is None:
            failed = ranks.failure(mine, _here(job))
            if failed is not None:
                said = 0.0
                ranks.end(mine)
        if not done and ranks.all_done(mine):
            done, said = True, 0.0
        if time.monotonic() - said > BEAT_SECONDS:
            said = time.monotonic()
            reply = link.say(done, failed)
            if reply["stop"]:
                raise JobFailedError(
                    reply["stop"],
                    why="the ranks of a job depend on each other: all of them were stopped",
                    fix="check the output of that node",
                )
            if done and link.is_over():
                return
        time.sleep(_LOOK_SECONDS)


def _variables(job: Job, port: int) -> list[dict[str, str]]:
    host = job.hosts.hosts[job.place].name
    slots = [asdict(slot) for slot in plan(job) if slot.hostname == host]
    # Ranks come to Horovod's init when they have imported their frameworks, some hosts long after others:
    # Gloo's own 30 s would end the job. What stops working later is noticed by the nodes, not by Gloo.
    patience = os.environ.get("HOROVOD_GLOO_TIMEOUT_SECONDS", str(int(job.seconds)))
    return [
        {**slot_variables(slot, job.address, port), "HOROVOD_GLOO_TIMEOUT_SECONDS": patience}
        for slot in slots
    ]


def _here(job: Job) -> str:
    """This host, for a message: its name, and how the list calls it."""
    name, listed = socket.gethostname(), job.hosts.hosts[job.place].name
    return name if name == listed else f"{name} ({listed})"


def _tell(text: str) -> None:
    print(f"hvdkit: {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _signals() -> Iterator[None]:
    """Turn what asks a process to end into `Interrupted`, once: the second must not stop the tidying up."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        for each in asking:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted(number)

    asking = heeded((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    before = [signal.signal(number, interrupt) for number in asking]
    try:
        yield
    finally:
        for number, handler in zip(asking, before):
            signal.signal(number, handler)
