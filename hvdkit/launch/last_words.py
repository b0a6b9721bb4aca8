"""What a rank printed last, and what that says of its end: its own error, or that of a different rank."""

from __future__ import annotations

import re
from collections import deque

from hvdkit.launch.streams import ERR, OUT

_KEPT = 200  # lines
_LONGEST = 1 << 16  # of a line, whose start is dropped: a bar without an end would grow as long as the job
_TRACEBACK = "Traceback (most recent call last):"
_OURS = "hvdkit: "  # what the rank's end of the lifeline says
_RANK = re.compile(r"^\[rank\d+\]: ?")  # what torch.distributed writes before each line of an uncaught error
_LOGGED = re.compile(r"^(\[rank\d+\]:)?\[[IWEF]\d{4} ")  # what PyTorch logs while it closes
# What a library prints that ends a process while Python closes, after an error or without one.
_ABORTED = ("terminate called ", "libc++abi", "Fatal Python error: ")
# A rank that prints this only reports a different rank's failure, seen by Horovod, or by Gloo or NCCL.
_SHUT_DOWN = "Horovod has been shut down"
_LOST = (
    *("Connection closed by peer", "Connection reset by peer"),
    *("ncclRemoteError", "failed to recv, got 0 bytes"),
)
_TOLD = ("HorovodInternalError", _SHUT_DOWN, *_LOST)


class LastWords:
    """Of one rank: its last lines of standard error, and whether it has printed anything since its error."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=_KEPT)
        self._unfinished = b""
        self._went_on = False

    def hear(self, stream: int, data: bytes) -> None:
        """The rank has written this to OUT or ERR."""
        if stream == OUT:
            self._went_on = self._went_on or bool(data.strip())
        elif stream == ERR:
            *whole, rest = (self._unfinished + data).split(b"\n")
            self._unfinished = rest[-_LONGEST:]
            for line in whole:
                self._add(line)

    def _add(self, line: bytes) -> None:
        # Of a bar that was drawn again and again, a terminal shows the last.
        text = line.decode("utf-8", "replace").rstrip("\r").rpartition("\r")[2]
        if text.endswith(_TRACEBACK):
            self._went_on = False
        self._lines.append(text)

    @property
    def traceback(self) -> str:
        """The last traceback that the rank printed; without one its last lines; "" if it printed nothing."""
        return "\n".join(self._error or self._lines_so_far[-20:])

    @property
    def has_own_error(self) -> bool:
        """Whether the rank ended with its own traceback, and not with that of another rank's failure.

        A library that ends the process while Python closes after it does not count.
        """
        said = [_RANK.sub("", line) for line in self._error[1:] if not _LOGGED.match(line)]
        # Frames are indented; the error is the first line that is not, and nothing follows it.
        after = [line for line in said if line.strip() and not line.startswith((" ", _OURS))]
        return len(after) == 1 and not self._went_on and not self.was_told

    @property
    def was_told(self) -> bool:
        """Whether the rank failed because Horovod, Gloo or NCCL told it that a different one had."""
        return self._says(_TOLD)

    @property
    def has_lost_others(self) -> bool:
        """Whether the rank, of torch.distributed, failed because a different one's connection had closed."""
        return self._says(_LOST)

    @property
    def was_shut_down(self) -> bool:
        """Whether the rank failed because a different one had left the job, well or not."""
        return self._says((_SHUT_DOWN,))

    @property
    def _lines_so_far(self) -> list[str]:
        rest = self._unfinished.decode("utf-8", "replace").rpartition("\r")[2]
        return [*self._lines, *([rest] if rest else [])]

    @property
    def _error(self) -> list[str]:
        """The last traceback, up to where a library aborts right behind it; [] where there is none."""
        lines = self._lines_so_far
        start = next((at for at in reversed(range(len(lines))) if lines[at].endswith(_TRACEBACK)), None)
        if start is None:
            return []
        aborts = (at for at in range(start, len(lines)) if _RANK.sub("", lines[at]).startswith(_ABORTED))
        return lines[start : None if self._went_on else next(aborts, None)]

    def _says(self, signs: tuple[str, ...]) -> bool:
        return any(sign in self.traceback for sign in signs)
