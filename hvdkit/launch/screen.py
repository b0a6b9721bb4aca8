"""The launcher's own two streams: what ranks print, each line with its rank in front, and hvdkit's lines.

Lines stay whole where several ranks write to one stream. A line that is still open, a progress bar, is ended
before something else is written below it. The bytes of a rank are not changed.
"""

from __future__ import annotations

import codecs
import os
import re
import select
import sys
import threading
from enum import Enum
from io import RawIOBase
from typing import BinaryIO

from hvdkit.launch.streams import ERR, OUT
from hvdkit.printable import printable

_PIECE = re.compile(r"[^\r\n]+|[\r\n]")


class _Place(Enum):
    """Where a stream of a rank is: at a line's start, inside it, behind a return to its start, or below a
    line that was ended for something else.
    """

    START, INSIDE, RETURNED, CUT = range(4)


class _Voice:
    """One stream of one rank."""

    def __init__(self, rank: int) -> None:
        self._mark = f"[{rank}] "
        # Keeps half a character until the rest of it arrives; bytes that are no text stay what they are.
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self.place = _Place.START

    @property
    def is_open(self) -> bool:
        return self.place in (_Place.INSIDE, _Place.RETURNED)

    def marked(self, data: bytes, last: bool = False) -> str:
        """The text of `data` with the rank's mark at each start of a line."""
        return "".join(map(self._piece, _PIECE.findall(self._decoder.decode(data, last))))

    def _piece(self, piece: str) -> str:
        before, mark = self.place, self._mark
        if piece == "\n":
            self.place = _Place.START
            return {_Place.START: mark + "\n", _Place.CUT: ""}.get(before, "\n")
        if piece == "\r":
            self.place = _Place.RETURNED if self.is_open else before
            return "" if before is _Place.CUT else "\r"
        self.place = _Place.INSIDE
        return piece if before is _Place.INSIDE else mark + piece


class _Page:
    """One stream of the launcher. What cannot be written any more is left out: the job goes on."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        # A buffer would keep what could not be written, and fail once more when Python ends.
        self._file: BinaryIO | RawIOBase = getattr(stream, "raw", stream)
        self._open: _Voice | None = None
        self._lock = threading.Lock()
        self._lost = False

    def write(self, text: str, voice: _Voice | None = None) -> OSError | None:
        """Write, and end the line of a different voice before it. Returns the first error of this stream."""
        if self._open is not None and self._open is not voice:
            self._open.place = _Place.CUT
            text = "\n" + text
        self._open = voice if voice is not None and voice.is_open else None
        if self._lost:
            return None
        try:
            self._stream.flush()
            self._write(text.encode("utf-8", "surrogateescape"))
        except OSError as error:
            self._lost = True
            return error
        return None

    def show(self, voice: _Voice, data: bytes, last: bool = False) -> OSError | None:
        """Write what a rank has written."""
        with self._lock:
            text = voice.marked(data, last)
            return self.write(text, voice) if text else None

    def line(self, text: str) -> None:
        """Write a whole line."""
        with self._lock:
            self.write(text + "\n")

    def end(self) -> None:
        """End the line that is open."""
        with self._lock:
            if self._open is not None:
                self.write("")

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            written = self._file.write(left)
            if written is None:  # a terminal that another program has made non-blocking
                select.select([], [self._file], [])
            left = left[written or 0 :]
        self._file.flush()


class Screen:
    """Where ranks and hvdkit write, from any thread."""

    def __init__(self, out: BinaryIO | None = None, err: BinaryIO | None = None) -> None:
        """out, err: those of this process where none is given."""
        out, err = out or sys.stdout.buffer, err or sys.stderr.buffer
        page = _Page(err)
        self._pages = {OUT: page if _is_one(out, err) else _Page(out), ERR: page}
        self._voices: dict[tuple[int, int], _Voice] = {}
        self._lock = threading.Lock()

    def show(self, rank: int, stream: int, data: bytes) -> None:
        """What a rank wrote to OUT or ERR."""
        with self._lock:
            voice = self._voices.setdefault((rank, stream), _Voice(rank))
        error = self._pages[stream].show(voice, data)
        if error is not None and self._pages[OUT] is not self._pages[ERR] and stream == OUT:
            self.say(f"standard output cannot be written: {error.strerror}; the job goes on without it")

    def say(self, text: str) -> None:
        """A line of hvdkit's own."""
        self.line(f"hvdkit: {text}")

    def line(self, text: str) -> None:
        """A line for standard error."""
        self._pages[ERR].line(printable(text))

    def end(self) -> None:
        """The ranks have ended: write half a character that none completed, and end what is open."""
        with self._lock:
            voices = list(self._voices.items())
            self._voices = {}
        for (_, stream), voice in voices:
            self._pages[stream].show(voice, b"", last=True)
        for page in self._pages.values():
            page.end()


def _is_one(out: BinaryIO, err: BinaryIO) -> bool:
    """Whether both are one file or terminal."""
    try:
        return os.path.samestat(os.fstat(out.fileno()), os.fstat(err.fileno()))
    except OSError:
        return False  # one of them is in memory
