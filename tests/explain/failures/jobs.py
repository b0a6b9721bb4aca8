"""Start a job that is meant to fail, and take down what a person would see of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

BIN = Path(sys.executable).parent
LAUNCH: dict[str, list[str]] = {
    "gloo": ["--gloo"],
    "mpi": ["--mpi", "--mpi-args=--oversubscribe --mca mpi_yield_when_idle 1"],
}
STALL = {"HOROVOD_STALL_CHECK_TIME_SECONDS": "3", "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS": "8"}


@dataclass(frozen=True)
class Failure:
    """One way to fail. cause: the id that `explain` must name. variant: the log's name within that cause.

    provoke: makes it happen and returns the output.
    """

    cause: str
    variant: str
    provoke: Callable[[], str]


def job(
    script: str,
    controller: str = "gloo",
    *,
    np: int = 2,
    options: Sequence[str] = (),
    python: Sequence[str] = (sys.executable,),
    environment: Mapping[str, str] | None = None,
    limit: float = 120,
    name: str = "train.py",
) -> str:
    """Output of `horovodrun -np NP ... python NAME`, with this text as that file; cut after `limit` s."""
    with tempfile.TemporaryDirectory(prefix="explain") as folder:
        Path(folder, name).write_text(script)
        hosts = [] if any(option in ("-H", "-hostfile") for option in options) else ["-H", f"localhost:{np}"]
        command = [str(BIN / "horovodrun"), "-np", str(np), *hosts, *LAUNCH[controller], *options]
        return output([*command, *python, name], Path(folder), environment, limit)


def output(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None, limit: float = 120
) -> str:
    """All that a command prints, both streams in one; it and its children are ended after `limit` s."""
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    calm = {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", "PATH": f"{BIN}:{os.environ['PATH']}"}
    given = {name: value for name, value in os.environ.items() if not name.startswith(("HOROVOD_", "PYTEST"))}
    merged = {**given, **root, **calm, **(environment or {})}
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={name: value for name, value in merged.items() if value},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        text, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)  # as Ctrl-C on a job that hangs
        try:
            text, _ = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            text, _ = process.communicate()
    return text
