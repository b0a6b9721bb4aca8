"""A process that has imported torch and Horovod, and forks one for each command, which starts at once.

    python warm.py SOCKET             serves until its standard input ends
    python -S -I warm.py SOCKET WORD [ARGUMENT...]

The second form takes the place of what it asks for: its environment, folder, output and exit code are those
of the forked process. WORD: `rank` for a rank under the probe, `hvdkit` or `horovodrun` for that command.
"""

from __future__ import annotations

import array
import contextlib
import json
import os
import select
import signal
import socket
import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def ask(path: str, argv: list[str]) -> int:
    """Have a command run and wait for its exit code; 1 where it died."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(path)
        told = json.dumps({"argv": argv, "env": dict(os.environ), "cwd": str(Path.cwd())}).encode()
        fds = array.array("i", [1, 2]).tobytes()
        line.sendmsg([len(told).to_bytes(4, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
        line.sendall(told)
        answer = line.recv(1)
        return answer[0] if answer else 1


def serve(path: str) -> None:
    """Import what the commands need, and fork a process for each that asks."""
    for module in ("horovod.runner.launch", "horovod.torch", "hvdkit.migrate.command", "truth.probe"):
        import_module(module)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(path)
        door.listen()
        while door in select.select([door, sys.stdin], [], [])[0]:
            line, _ = door.accept()
            if not os.fork():
                door.close()
                _answer(line)
            line.close()


def _answer(line: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, ancillary, _, _ = line.recvmsg(4, socket.CMSG_SPACE(8))
    fds = array.array("i", ancillary[0][2])
    told = b""
    while len(told) < int.from_bytes(size, "big"):
        told += line.recv(65536)
    asked: dict[str, Any] = json.loads(told)
    for fd, number in zip(fds, (1, 2)):
        os.dup2(fd, number)
        os.close(fd)
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["cwd"])
    word, *sys.argv = asked["argv"]
    sys.argv.insert(0, word)
    code = 1
    try:
        code = COMMANDS[word]()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1
    except Exception as error:  # of horovodrun, hvdkit or the probe: printed as python would, and exit code 1
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        with contextlib.suppress(OSError):  # who asked may have been ended
            line.sendall(bytes([code & 255]))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _rank() -> int:
    from truth.probe import watched

    return watched()


def _hvdkit() -> int:
    from hvdkit.cli import main

    return main(sys.argv[1:])


def _horovodrun() -> int:
    from horovod.runner.launch import run_commandline

    run_commandline()
    return 0


COMMANDS = {"rank": _rank, "hvdkit": _hvdkit, "horovodrun": _horovodrun}

if __name__ == "__main__":
    if sys.argv[2:]:
        sys.exit(ask(sys.argv[1], sys.argv[2:]))
    serve(sys.argv[1])
