"""Imports what ranks need and forks one for each client that connects; ends when its standard input does.

    python server.py DOOR MODULE...

DOOR: the file descriptor of a socket that listens. Clients connect from the start, and wait for the imports.
"""

from __future__ import annotations

import array
import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
from importlib import import_module
from typing import Any

FILES = 5  # standard input, output and error; the client's user and mount namespaces
FOLDERS = sys.path[1:]  # without this file's own


def main() -> None:
    """Serve, until a fork returns from it to become its program."""
    door, *modules = sys.argv[1:]
    sys.path[:] = FOLDERS
    for module in modules:
        import_module(module)
    forked = frozenset(name for name in sys.modules if "." not in name) - {"__main__", "sitecustomize"}
    gc.collect()
    gc.freeze()  # a fork's own objects alone are looked through, and shared pages stay shared
    asked = Server(socket.socket(fileno=int(door))).serve()
    if asked is not None:
        from hvdkit.verify.warm.become import become

        become(asked["arguments"], forked, FOLDERS)


class Server:
    """The clients that are connected, and the fork of each."""

    def __init__(self, door: socket.socket) -> None:
        self.door = door
        self.forks: dict[int, socket.socket] = {}
        # A fork that ends interrupts nothing: it writes a byte here.
        self.ended, wakes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakes)

    def serve(self) -> dict[str, Any] | None:
        """What a client asked for, in the fork that is to do it; None in the server, at its end."""
        while True:
            watched = [self.door, sys.stdin, self.ended, *self.forks.values()]
            ready = select.select(watched, [], [])[0]
            if self.ended in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self.ended, 4096)
            self._report()
            for pid, line in list(self.forks.items()):
                if line in ready:
                    self._pass_on(pid, line)
            if self.door in ready:
                asked = self._fork()
                if asked is not None:
                    return asked
            if sys.stdin in ready:
                for pid in self.forks:
                    _signal_session(pid)
                return None

    def _report(self) -> None:
        """Say to each client whose fork has ended how it did."""
        while self.forks:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            line = self.forks.pop(pid)
            code = os.waitstatus_to_exitcode(status)
            with contextlib.suppress(OSError):  # the client was killed
                line.sendall(code.to_bytes(4, "big", signed=True))
            line.close()

    def _pass_on(self, pid: int, line: socket.socket) -> None:
        """Give a fork the signals of its client; end it where the client was killed."""
        try:
            received = line.recv(16)
        except OSError:
            received = b""
        if not received:
            _signal_session(pid)
        for number in received:
            os.kill(pid, number)

    def _fork(self) -> dict[str, Any] | None:
        """In the fork, what it is to do."""
        line, _ = self.door.accept()
        try:
            asked, files = _received(line)
        except (OSError, ValueError):  # the client was killed as it asked
            line.close()
            return None
        pid = os.fork()
        if pid:
            self.forks[pid] = line
            for file in files:
                os.close(file)
            return None
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for inherited in (self.door, *self.forks.values()):
            inherited.close()
        line.close()
        os.setsid()
        _take_over(asked, files)
        return asked


def _received(line: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """What a client asks for, and its open files. Raises OSError and ValueError."""
    line.sendall(b"!")  # everything is imported
    size, ancillary, _, _ = line.recvmsg(4, socket.CMSG_SPACE(FILES * array.array("i").itemsize))
    with line.makefile("rb") as text:
        asked: dict[str, Any] = json.loads(text.read(int.from_bytes(size, "big")))
    return asked, array.array("i", ancillary[0][2]).tolist()


def _take_over(asked: dict[str, Any], files: list[int]) -> None:
    """Give this process the files, folder, cores and variables of the client."""
    from hvdkit.verify.warm import folders, variables

    *streams, user, mounts = files
    for number, file in enumerate(streams):
        os.dup2(file, number)
    folders.enter(user, mounts, asked["environment"])
    for file in files:
        os.close(file)
    os.chdir(asked["folder"])
    os.sched_setaffinity(0, asked["cores"])
    for number in asked["ignored"]:
        signal.signal(number, signal.SIG_IGN)
    try:
        variables.replace(asked["environment"])
    except OSError:  # more than there is room for
        os.execve(sys.executable, [sys.executable, *asked["arguments"]], asked["environment"])


def _signal_session(pid: int) -> None:
    """End a fork and what it has started, which is in its session."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
