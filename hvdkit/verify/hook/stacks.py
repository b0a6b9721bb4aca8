"""Where each process of a run is, on request: what the command shows when a run hangs."""

from __future__ import annotations

import faulthandler
import os
import signal

from hvdkit.verify.hook.settings import Settings

# A real-time signal, which no launcher or training script uses for itself.
SIGNAL = signal.SIGRTMIN + 7


def dump_on_request(settings: Settings) -> None:
    """On SIGNAL write the Python stack of every thread to `stacks/PID`; works inside a blocked C call too."""
    folder = settings.path / "stacks"
    folder.mkdir(parents=True, exist_ok=True)
    # Held open on purpose: the handler writes to the file descriptor when the time comes.
    file = (folder / str(os.getpid())).open("w")
    signal.signal(SIGNAL, signal.SIG_IGN)  # for when Python has ended, and the process not yet
    faulthandler.register(SIGNAL, file=file, all_threads=True)
