"""What the ranks print: tagged by horovodrun or mpirun, shown with the rank in front, kept by rank."""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from hvdkit.printable import as_it_is

# `[1]<stdout>:` by horovodrun, `[1,1]<stdout>:` by mpirun: job, rank.
_TAG = re.compile(r"\[(?:\d+,)?(\d+)\]<(stdout|stderr)>:")
_KEPT = 200  # lines of standard error a rank
_TRACEBACK = "Traceback (most recent call last):"
_OURS = "hvdkit: "  # what the rank's end of the lifeline says
# A rank that prints this only reports a different rank's failure, seen by Horovod, or by Gloo or NCCL.
_SHUT_DOWN = "Horovod has been shut down"
_LOST = (
    *("Connection closed by peer", "Connection reset by peer"),
    *("ncclRemoteError", "failed to recv, got 0 bytes"),
)
_TOLD = ("HorovodInternalError", _SHUT_DOWN, *_LOST)


class Output:
    """A context manager that prints each line where it belongs and remembers the last errors of each rank."""

    def __init__(self, folder: Path | None, has_failed: Callable[[], bool], shown: bool = True) -> None:
        """folder: where rank.N.log files go, made if it is not there; None for no files.

        has_failed: whether a rank has. From then on the launcher's own lines are not shown: it says once
        more, in its words, what the rank said. shown: False keeps the terminal to the caller.
        """
        self._folder = folder
        self._has_failed = has_failed
        self._shown = shown
        self._files: dict[int, IO[str]] = {}
        self._errors: dict[int, deque[str]] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Output:
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def line(self, text: str) -> None:
        """Take one line of the launcher's output."""
        match = _TAG.match(text)
        if match is None:
            if self._shown and not self._has_failed():
                print(text, file=as_it_is(sys.stderr), flush=True)
            return
        rank, rest = int(match.group(1)), text[match.end() :]
        if match.group(2) == "stderr":
            self._errors.setdefault(rank, deque(maxlen=_KEPT)).append(rest)
        if self._shown:
            stream = sys.stderr if match.group(2) == "stderr" else sys.stdout
            print(f"[{rank}] {rest}", file=as_it_is(stream), flush=True)  # the program's own output
        if self._folder is not None:
            file = self._file(rank)
            file.write(rest + "\n")
            file.flush()

    def _file(self, rank: int) -> IO[str]:
        if rank not in self._files:
            assert self._folder is not None
            path = self._folder / f"rank.{rank}.log"
            self._files[rank] = self._stack.enter_context(path.open("w", encoding="utf-8"))
        return self._files[rank]

    def traceback(self, rank: int) -> str:
        """The last traceback that a rank printed; without one its last lines; "" if it printed nothing."""
        lines = list(self._errors.get(rank, ()))
        starts = [number for number, line in enumerate(lines) if line.startswith(_TRACEBACK)]
        return "\n".join(lines[starts[-1] :] if starts else lines[-20:])

    def has_own_error(self, rank: int) -> bool:
        """Whether the last thing that a rank printed is a traceback, and not of what Horovod told it."""
        lines = [line for line in self._errors.get(rank, ()) if line.strip() and not line.startswith(_OURS)]
        starts = [number for number, line in enumerate(lines) if line.startswith(_TRACEBACK)]
        if not starts:
            return False
        # Frames are indented; the error is the first line that is not, and nothing follows it.
        after = [line for line in lines[starts[-1] + 1 :] if not line.startswith(" ")]
        return len(after) == 1 and not self.was_told(rank)

    def was_told(self, rank: int) -> bool:
        """Whether a rank failed because Horovod told it that another one had."""
        return any(sign in self.traceback(rank) for sign in _TOLD)

    def has_lost_others(self, rank: int) -> bool:
        """Whether a rank of torch.distributed failed because another one's connection had closed."""
        return any(sign in self.traceback(rank) for sign in _LOST)

    def was_shut_down(self, rank: int) -> bool:
        """Whether a rank failed because another one had left the job, well or not."""
        return _SHUT_DOWN in self.traceback(rank)


def lines(stream: IO[bytes]) -> Iterator[str]:
    """Lines as they come; bytes that are not UTF-8 are replaced."""
    for line in stream:
        yield line.decode("utf-8", "replace").rstrip("\r\n")
