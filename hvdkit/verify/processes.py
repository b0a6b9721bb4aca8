"""Every process of a run, found by the variable they all inherit; process groups do not hold them.

horovodrun and mpirun put their workers into sessions of their own. Linux only: reads /proc.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from pathlib import Path

from hvdkit.verify.environments import in_environment
from hvdkit.verify.hook.settings import launcher_rank
from hvdkit.verify.hook.stacks import SIGNAL

_FRAME = re.compile(r'^  File "(.+)", line \d+', re.MULTILINE)  # of faulthandler
VARIABLE = "HVDKIT_VERIFY_RUN"


def processes_of(run: str) -> list[int]:
    """Process ids of everything started by this run (`run` is the value of its variable)."""
    mark = f"{VARIABLE}={run}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except (PermissionError, FileNotFoundError, ProcessLookupError):
                continue  # another user's, or gone since it was listed
    return found


def stop(run: str, grace: float) -> None:
    """End every process of a run: asked first, for launchers to tidy up, and forced after `grace` seconds."""
    _signal_all(run, signal.SIGTERM)
    deadline = time.monotonic() + grace
    while processes_of(run) and time.monotonic() < deadline:
        time.sleep(0.05)
    while processes_of(run):
        _signal_all(run, signal.SIGKILL)
        time.sleep(0.05)


def stacks(run: str, folder: Path, work: Path) -> list[str]:
    """Where the processes of a run are that are inside a file of `work`: "rank R, process P" and the stack.

    folder: where their hooks write. Launchers and helper processes are left out.
    """
    able = [pid for pid in processes_of(run) if (folder / str(pid)).exists()]
    for pid in able:
        os.kill(pid, SIGNAL)
    time.sleep(1.0)  # the handlers write at once; there is nothing to wait on
    found = []
    for pid in able:
        stack = (folder / str(pid)).read_text(encoding="utf-8", errors="replace").rstrip()
        if any(_is_of_script(Path(name), work) for name in _FRAME.findall(stack)):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended since
                rank = launcher_rank(_environment(pid))
                found.append(f"{'' if rank is None else f'rank {rank}, '}process {pid}:\n{stack}")
    return sorted(found)


def _is_of_script(file: Path, work: Path) -> bool:
    return file.is_relative_to(work) and not in_environment(file)


def _environment(pid: int) -> dict[str, str]:
    entries = Path("/proc", str(pid), "environ").read_bytes().split(b"\0")
    return dict(os.fsdecode(entry).split("=", 1) for entry in entries if b"=" in entry)


def _signal_all(run: str, number: signal.Signals) -> None:
    for pid in processes_of(run):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue
