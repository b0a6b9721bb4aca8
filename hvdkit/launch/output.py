"""What the ranks print: shown with the rank in front, kept by rank, in files where a folder is named."""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from hvdkit.launch.last_words import LastWords
from hvdkit.launch.screen import Screen
from hvdkit.launch.streams import ERR, OUT

# `[1]<stdout>:` by horovodrun, `[1,1]<stdout>:` by mpirun: job, rank. Only a rank's end of the lifeline, and
# what keeps it from starting, writes there: the rank's command has its own way to the launcher.
_TAG = re.compile(r"\[(?:\d+,)?(\d+)\]<(stdout|stderr)>:")


class Output:
    """A context manager that shows what the ranks print, and remembers the last words of each."""

    def __init__(
        self, folder: Path | None, has_failed: Callable[[], bool], screen: Screen | None = None
    ) -> None:
        """folder: where rank.N.log files go, made if it is not there; None for no files.

        has_failed: whether a rank has. From then on the launcher's own lines are not shown: it says once
        more, in its words, what the rank said. screen: None shows nothing.
        """
        self._folder = folder
        self._has_failed = has_failed
        self._screen = screen
        self._files: dict[int, IO[bytes]] = {}
        self._words: defaultdict[int, LastWords] = defaultdict(LastWords)
        self._lock = threading.Lock()
        self._stack = ExitStack()

    def __enter__(self) -> Output:
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self._screen is not None:
            self._screen.end()
        with self._lock:
            self._folder = None
            self._stack.close()

    def take(self, rank: int, stream: int, data: bytes) -> None:
        """A rank's command has written `data` to OUT or ERR. Called by the thread of each rank."""
        with self._lock:
            self._words[rank].hear(stream, data)
            self._keep(rank, data)
        if self._screen is not None:
            self._screen.show(rank, stream, data)

    def line(self, text: str) -> None:
        """Take one line of the launcher's output."""
        match = _TAG.match(text)
        if match is not None:
            rest = text[match.end() :] + "\n"
            self.take(int(match[1]), OUT if match[2] == "stdout" else ERR, rest.encode())
        elif self._screen is not None and not self._has_failed():
            self._screen.line(text)

    def words(self, rank: int) -> LastWords:
        """What a rank printed last."""
        with self._lock:
            return self._words[rank]

    def _keep(self, rank: int, data: bytes) -> None:
        if self._folder is None:
            return
        try:
            if rank not in self._files:
                path = self._folder / f"rank.{rank}.log"
                self._files[rank] = self._stack.enter_context(path.open("wb", buffering=0))
            self._files[rank].write(data)
        except OSError as error:
            if self._screen is not None:
                self._screen.say(f"{self._folder}: {error.strerror}; the job goes on, and its logs end here")
            self._folder = None


def lines(stream: IO[bytes]) -> Iterator[str]:
    """Lines as they come; bytes that are not UTF-8 are replaced."""
    for line in stream:
        yield line.decode("utf-8", "replace").rstrip("\r\n")
