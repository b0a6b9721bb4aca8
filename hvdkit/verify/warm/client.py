"""Stands where a launcher started Python: has a rank forked, passes signals on, and ends as the rank does.

    python -I -S client.py SOCKETS PYTHON-ARGUMENT...

SOCKETS: one of each process that forks, joined by ":"; a rank takes the one of its local rank. If it does not
answer, the client becomes the Python that it stands for. It imports little: one runs for each rank.
"""

import array
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import NoReturn

LOCAL_RANKS = ("LOCAL_RANK", "HOROVOD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK")
FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
STATUS = 4  # bytes of an exit code


def main() -> None:
    """Ask, wait, end."""
    sockets, *arguments = sys.argv[1:]
    line = _answering(sockets.split(":"))
    if line is None:
        os.execv(sys.executable, [sys.executable, *arguments])
    _ask(line, arguments)
    for number in FORWARDED:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda received, _: line.sendall(bytes([received])))
    _end(line)


def _answering(paths: list[str]) -> "socket.socket | None":
    """A line on which a fork waits; None where what forks is gone, or could not import."""
    rank = next((os.environ[name] for name in LOCAL_RANKS if name in os.environ), "0")
    line = socket.socket(socket.AF_UNIX)
    try:
        line.connect(paths[int(rank) % len(paths)])
        return line if line.recv(1) else None
    except OSError:
        return None


def _ask(line: socket.socket, arguments: list[str]) -> None:
    said = json.dumps(
        {
            "arguments": arguments,
            "environment": dict(os.environ),
            "folder": str(Path.cwd()),
            "cores": sorted(os.sched_getaffinity(0)),  # mpirun binds what it starts
            "ignored": [number for number in FORWARDED if signal.getsignal(number) is signal.SIG_IGN],
        }
    ).encode()
    spaces = [os.open(f"/proc/self/ns/{kind}", os.O_RDONLY) for kind in ("user", "mnt")]
    files = array.array("i", [0, 1, 2, *spaces]).tobytes()
    line.sendmsg([len(said).to_bytes(4, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
    line.sendall(said)


def _end(line: socket.socket) -> NoReturn:
    """As the rank ends: by its exit code, or by the signal that ended it."""
    said = b""
    while len(said) < STATUS:
        received = line.recv(STATUS - len(said))
        if not received:
            os._exit(1)  # what forks is gone, and the rank with it
        said += received
    code = int.from_bytes(said, "big", signed=True)
    if code < 0:
        if -code in FORWARDED:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main()
