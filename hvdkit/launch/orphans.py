"""Child processes that do not outlive this one, even where it has no time to end them. Linux."""

from __future__ import annotations

import ctypes
import signal

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_LIBC = ctypes.CDLL(None)


def die_with_parent() -> None:
    """For `preexec_fn`, in the main thread: the child is killed when the process that started it is."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
