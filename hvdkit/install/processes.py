"""Child processes that never outlive this one: ended, with all they started, on Ctrl-C and time-out."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from types import FrameType

from hvdkit.signals import heeded

_GRACE_S = 5.0


@contextlib.contextmanager
def group(command: list[str], environment: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Start `command` in a process group of its own, stdout and stderr in one pipe.

    However the block is left, the whole group is gone afterwards. SIGTERM and SIGHUP arrive as
    KeyboardInterrupt meanwhile: the group does not get those of our terminal.
    """

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    numbers = heeded((signal.SIGTERM, signal.SIGHUP))
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        with subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as process:
            try:
                yield process
            finally:
                _end(process)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run(command: list[str], environment: Mapping[str, str], timeout_s: float) -> tuple[int | None, str]:
    """Exit code (None: it ran past `timeout_s`) and output of `command`."""
    with group(command, environment) as process:
        try:
            output, _ = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            _end(process)
            output, _ = process.communicate()
            return None, output
        return process.returncode, output


def _end(process: subprocess.Popen[str]) -> None:
    """Ask the group to end, then kill what is left of it; the leader's children may outlive the leader."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
    process.wait()
