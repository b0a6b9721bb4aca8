"""The ranks of one node as processes: started with their variables, and ended with all that they started."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hvdkit.bootstrap.board import Failure
from hvdkit.bootstrap.errors import NodeListError

# Set for a rank: the process that started it, and watches it.
STARTED_BY = "HVDKIT_STARTED_BY"
END_SECONDS = 5.0
_POLL_SECONDS = 0.05
_PR_SET_PDEATHSIG = 1  # linux/prctl.h


@dataclass(frozen=True)
class Rank:
    """One rank's number in the world, and its process, which leads a process group."""

    number: int
    process: subprocess.Popen[bytes]


def start(
    command: Sequence[str], variables: Sequence[Mapping[str, str]], first: int, *, with_output: bool
) -> list[Rank]:
    """Start a node's ranks. variables: each one's, beside this process's own; first: the first rank."""
    ranks = []
    for offset, own in enumerate(variables):
        environ = {**os.environ, "PYTHONUNBUFFERED": "1", **own, STARTED_BY: str(os.getpid())}
        process = subprocess.Popen(
            command,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=None if with_output else subprocess.DEVNULL,
            start_new_session=True,
        )
        ranks.append(Rank(first + offset, process))
    return ranks


def failure(ranks: Sequence[Rank], host: str) -> Failure | None:
    """How the first rank that failed ended, None where all run or ended well. host: for the message."""
    ended = [(rank, rank.process.poll()) for rank in ranks]
    failed = [(rank, code) for rank, code in ended if code]
    if not failed:
        return None
    rank, code = min(failed, key=lambda each: each[1] >= 0)
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    return Failure(f"rank {rank.number} on {host} {how}", code < 0)


def all_done(ranks: Sequence[Rank]) -> bool:
    """Whether every rank has ended well."""
    return all(rank.process.poll() == 0 for rank in ranks)


def end(ranks: Sequence[Rank]) -> None:
    """End all ranks and what they started: asked first, killed after some seconds."""
    running = [rank for rank in ranks if rank.process.poll() is None]
    _signal(running, signal.SIGTERM)
    deadline = time.monotonic() + END_SECONDS
    while time.monotonic() < deadline and any(rank.process.poll() is None for rank in running):
        time.sleep(_POLL_SECONDS)
    # Also the groups whose leader is gone: loaders' workers and the like.
    _signal(ranks, signal.SIGKILL)
    for rank in running:
        rank.process.wait()


def again() -> list[str]:
    """The command that started this process: the same script with the same arguments.

    Raises: NodeListError: there is no script (an interactive session, a notebook).
    """
    main = sys.modules["__main__"]
    original = getattr(sys, "orig_argv", None)  # Python 3.10 and later
    if not hasattr(main, "__file__") and not (original and sys.argv[:1] == ["-c"]):
        raise NodeListError(
            "hvdkit.cluster was called in an interactive session or a notebook",
            why="it starts the same script once for each rank, and there is none",
            fix="write the program into a file and run `python FILE` on every node",
        )
    if original:
        return [sys.executable, *original[1:]]
    spec = getattr(main, "__spec__", None)
    return [sys.executable, *(["-m", spec.name, *sys.argv[1:]] if spec else sys.argv)]


def follow_starter() -> bool:
    """In a rank: end with the process that started it, also when that is killed. False in other processes."""
    starter = os.environ.pop(STARTED_BY, "")
    if not starter:
        return False
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(starter):
        raise SystemExit("hvdkit: the process that started this rank is gone")
    return True


def _signal(ranks: Sequence[Rank], number: signal.Signals) -> None:
    for rank in ranks:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(rank.process.pid, number)
