"""What merely follows: the words of a rank that is well, once another rank has gone. Decides nothing."""

from __future__ import annotations

import re

# How Horovod, Gloo, NCCL and Python say that a peer is gone, or that the process was asked to end.
FOLLOWS = re.compile(
    r"Horovod has been shut down|HorovodShutdownError|HostsUpdatedInterrupt"
    r"|Horovod detected that one or more processes exited"
    r"|[Cc]onnection (?:was )?(?:reset|closed|aborted) by (?:remote )?peer|Broken pipe|Socket closed"
    r"|MPI communication peer process has unexpectedly disconnected"
    r"|BrokenPipeError|ConnectionResetError|ConnectionAbortedError|ncclRemoteError"
    r"|remote process exited or there was a network error"
    r"|^(?:[\w.]*\.)?(?:KeyboardInterrupt|SystemExit|HorovodInternalError)\b"
    r"|^RuntimeError: (?:mpirun|jsrun) failed with exit code"
)


def follows(words: str) -> bool:
    """Whether these words are said because another process has ended."""
    return FOLLOWS.search(words) is not None
