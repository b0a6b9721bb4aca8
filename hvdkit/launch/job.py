"""One job from its start to its end: the ranks watched, the first failure found, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

from hvdkit import interpreter
from hvdkit.errors import HvdkitError
from hvdkit.launch import world
from hvdkit.launch.horovodrun import Start, command_line
from hvdkit.launch.lifeline import Lifeline, RankEnd
from hvdkit.launch.orphans import die_with_parent
from hvdkit.launch.output import Output, lines
from hvdkit.launch.screen import Screen
from hvdkit.launch.watch import Watch
from hvdkit.signals import heeded
from hvdkit.sync.folder import VARIABLE

# Seconds for the other ranks to end by themselves, with their own words, once one has failed.
_FOLLOW_S = 3.0
# 128 + the signals by which a library ends a process: SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV.
_CRASHES = frozenset(128 + number for number in (4, 6, 7, 8, 11))
_UNCAUGHT = 1  # what Python exits with
_END_S = 15.0
_LAUNCHER_S = 10.0


class ControlPortError(HvdkitError):
    """The port that the ranks report to is taken."""


@dataclass(frozen=True)
class Outcome:
    """How a job ended. first: the rank that failed first, None if all ended well or none was started.
    code: what `hvdkit run` ends with. traceback: of `first`. shut_down: it failed because another rank had
    left, which is not known to have failed. uneven: where each rank was, if not at the same step.
    parted: the ranks no longer trained one model, and the job was ended for it.
    """

    code: int
    first: RankEnd | None = None
    traceback: str = ""
    shut_down: bool = False
    uneven: str = ""
    parted: HvdkitError | None = None


def run(
    start: Start,
    command: Sequence[str],
    environ: Mapping[str, str],
    ctrl_port: int,
    log_dir: Path | None,
    watch: Watch | None = None,
    screen: Screen | None = None,
) -> Outcome:
    """Start a job and stay with it. However this is left, no rank runs on any host afterwards.

    environ: all that the ranks are given. ctrl_port: where they report to, 0 for any. watch: what compares
        the ranks; None for a job that nobody watches. screen: shows what they print; None shows nothing.
    Raises: ControlPortError, LauncherError, KeyboardInterrupt.
    """
    token = uuid.uuid4().hex
    with Output(log_dir, lambda: lifeline.has_failure, screen) as output, _interruptible():
        lifeline = _listen(start, ctrl_port, token, watch, output)
        shim = interpreter.module("hvdkit.launch.rank", "{}:{}".format(*lifeline.address), "--")
        full = command_line(start, [*shim, *command])
        launcher = _launcher(
            full,
            {**environ, "HVDKIT_JOB": token, VARIABLE: "1" if watch else "", world.VARIABLE: start.world},
        )
        reader = threading.Thread(target=_forward, args=(launcher, output), daemon=True)
        reader.start()
        patient = False
        try:
            _stay(launcher, lifeline, watch, start.ranks)
            patient = True
        finally:
            lifeline.close()
            lifeline.wait(_END_S, patient)
            _end(launcher)
            reader.join(_LAUNCHER_S)
        outcome = _outcome(launcher.returncode, (*lifeline.ended, *lifeline.silent), output, start.ranks)
        if watch is None:
            return outcome
        watch.look()  # what came last
        if watch.parted:
            return Outcome(1, parted=watch.parted)
        left = [end.rank for end in lifeline.ended if not end.failed]
        return replace(outcome, uneven=watch.uneven(left) if outcome.shut_down else "")


def _listen(start: Start, ctrl_port: int, token: str, watch: Watch | None, output: Output) -> Lifeline:
    address = start.route.interfaces[start.launcher].address if start.route else "127.0.0.1"
    gathers = bool(start.world)
    try:
        return Lifeline(
            address, ctrl_port, token, start.ranks, watch=watch, gathers=gathers, take=output.take
        )
    except OSError as error:
        raise ControlPortError(
            f"port {ctrl_port} on {address}: {error.strerror}",
            why="ranks report to it; an older job may still hold it",
            fix="use a different --ctrl-port, or stop the program that `ss -ltnp` names",
        ) from None


def _launcher(full: Sequence[str], environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        full,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # Ctrl-C reaches us alone; the ranks hear it from us
        preexec_fn=die_with_parent,  # horovodrun hangs when nobody reads what it prints
    )


def _forward(launcher: subprocess.Popen[bytes], output: Output) -> None:
    assert launcher.stdout is not None
    for line in lines(launcher.stdout):
        output.line(line)


def _stay(launcher: subprocess.Popen[bytes], lifeline: Lifeline, watch: Watch | None, ranks: int) -> None:
    """Return when the launcher or all ranks have ended, some time after the first rank has failed, or at once
    where the ranks have parted.
    """
    failed = None
    while launcher.poll() is None:
        if watch is not None:
            watch.look()
            if watch.parted:
                return
        if failed is None and lifeline.has_failure:
            failed = time.monotonic()
        if failed is not None and (len(lifeline.ended) == ranks or time.monotonic() - failed > _FOLLOW_S):
            return
        time.sleep(0.1)


def _outcome(code: int, ended: Sequence[RankEnd], output: Output, ranks: int) -> Outcome:
    first = first_failure(ended, output)
    if first is not None:
        words = output.words(first.rank)
        others_left = words.has_lost_others and any(not end.failed for end in ended)
        left = words.was_shut_down or others_left
        return Outcome(first.code or 1, first, words.traceback, left)
    if len({end.rank for end in ended}) == ranks:
        return Outcome(0)
    # Nobody failed and somebody never was: the launcher's own error, which it has printed.
    return Outcome(code if code > 0 else 1)


def first_failure(ended: Sequence[RankEnd], output: Output) -> RankEnd | None:
    """The first rank that failed by itself, not because a different rank did or it was asked to end; with the
    exit code of its own error, where something ended it while that error closed it.
    """

    def own(end: RankEnd) -> bool:
        words = output.words(end.rank)
        return words.has_own_error if end.stopped else not words.was_told

    failed = [end for end in ended if end.failed]
    first = next((end for end in failed if own(end)), next(iter(failed), None))
    if first is None or not output.words(first.rank).has_own_error:
        return first
    by_signal = first.code is None or first.code > 128
    return (
        replace(first, code=_UNCAUGHT) if first.code in _CRASHES or (first.stopped and by_signal) else first
    )


@contextmanager
def _interruptible() -> Iterator[None]:
    """SIGTERM and SIGHUP arrive as Ctrl-C does: a launcher that is told to stop leaves no ranks behind."""

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    numbers = heeded((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(launcher: subprocess.Popen[bytes]) -> None:
    """Give the launcher time to end by itself, then ask it, then end it and what is in its group."""
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is not None:
            try:
                os.killpg(launcher.pid, number)
            except ProcessLookupError:
                break
        try:
            launcher.wait(_LAUNCHER_S)
            break
        except subprocess.TimeoutExpired:
            continue
    launcher.wait()
