"""A process that has imported torch and Horovod, and forks one for each command, which starts at once.

    python warm.py SOCKET             serves until its standard input ends

`Warm` starts it and asks it. The commands: `hvdkit ...`, `rank OUT.json SCRIPT ...` for a script under the
probe, alone, and `job HOSTS OUT.json SCRIPT ...` for two ranks of it. A job's ranks find each other as those
of horovodrun do: its rendezvous server runs, and they get the variables that it gives.
"""

from __future__ import annotations

import array
import contextlib
import gc
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RANKS = 2
GRACE = 5.0  # seconds that the other rank has to end in, when one has failed


class Warm:
    """The process, in a `with`."""

    def __enter__(self) -> Warm:
        """Start it, and wait until it answers."""
        self.folder = tempfile.TemporaryDirectory(prefix="truth-warm-")
        self.socket = str(Path(self.folder.name) / "socket")
        command = [sys.executable, __file__, self.socket]
        self.process = subprocess.Popen(command, env=environment(), stdin=subprocess.PIPE)
        while not Path(self.socket).exists():
            if self.process.poll() is not None:
                raise SystemExit(f"exit code {self.process.returncode} of {__file__}")
            time.sleep(0.1)
        return self

    def __exit__(self, *_: object) -> None:
        """End it, as the end of this process would."""
        self.process.communicate()
        self.folder.cleanup()

    def run(self, command: list[str], folder: Path, limit: float) -> tuple[int, str]:
        """Exit code and output of a command in a folder; all of its processes end, 124 past the limit (s)."""
        with tempfile.TemporaryFile() as output, socket.socket(socket.AF_UNIX) as line:
            line.connect(self.socket)
            said = json.dumps({"argv": command, "env": environment(), "cwd": str(folder)}).encode()
            fds = array.array("i", [output.fileno()]).tobytes()
            line.sendmsg([len(said).to_bytes(4, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
            line.sendall(said)
            session = int.from_bytes(line.recv(4), "big")
            line.settimeout(limit)
            try:
                answer = line.recv(1)
                code = answer[0] if answer else 1
            except TimeoutError:
                code = 124
            with contextlib.suppress(ProcessLookupError):  # all of them may have ended
                os.killpg(session, signal.SIGKILL)
            output.seek(0)
            return code, output.read().decode(errors="replace")


def environment() -> dict[str, str]:
    """What a command finds: nothing of a job that this process may be in."""
    env = {
        name: value
        for name, value in os.environ.items()
        if name != "CUDA_VISIBLE_DEVICES" and not name.startswith("HOROVOD_")
    }
    return {
        **env,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "benchmarks")]),
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_COLOR": "1",
    }


def serve(path: str) -> None:
    """Import what the commands need, and fork a process for each that asks."""
    rules = import_module("hvdkit.migrate.rules")
    # The first step of an optimizer imports torch._dynamo, which takes longer than all the rest of a program.
    for module in (
        "horovod.torch",
        "horovod.runner.gloo_run",
        "torch._dynamo",
        "hvdkit.migrate.command",
        "truth.probe",
        *(f"{rules.__name__}.{module.name}" for module in pkgutil.iter_modules(rules.__path__)),
    ):
        import_module(module)
    gc.collect()
    gc.freeze()  # so the networks of a program are found among its own objects
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
    os.setsid()
    size, ancillary, _, _ = line.recvmsg(4, socket.CMSG_SPACE(4))
    output = array.array("i", ancillary[0][2])[0]
    said = b""
    while len(said) < int.from_bytes(size, "big"):
        said += line.recv(65536)
    asked: dict[str, Any] = json.loads(said)
    for number in (1, 2):
        os.dup2(output, number)
    os.close(output)
    line.sendall(os.getpid().to_bytes(4, "big"))
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["cwd"])
    code = _ended(*asked["argv"])
    with contextlib.suppress(OSError):  # who asked may have ended
        line.sendall(bytes([code]))
    os._exit(code)


def _ended(word: str, *arguments: str) -> int:
    """The exit code of a command, as a shell would know it; what it printed is written."""
    sys.argv = [word, *arguments]
    code = 1
    try:
        code = COMMANDS[word]()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    except Exception as error:  # of hvdkit, Horovod or the probe: printed as python would, and exit code 1
        sys.excepthook(type(error), error, error.__traceback__)
    with contextlib.suppress(OSError, ValueError):  # the command may have closed them
        sys.stdout.flush()
        sys.stderr.flush()
    return code & 255


def _rank() -> int:
    from truth.probe import watched

    return watched()


def _hvdkit() -> int:
    from hvdkit.cli import main

    return main(sys.argv[1:])


def _job() -> int:
    """The exit code of the first rank that fails; the other one ends with it, as under horovodrun."""
    from horovod.runner.common.util.hosts import get_host_assignments, parse_hosts
    from horovod.runner.gloo_run import create_run_env_vars, create_slot_env_vars
    from horovod.runner.http.http_server import RendezvousServer

    _, hosts, *script = sys.argv
    slots = get_host_assignments(parse_hosts(hosts), RANKS)
    # The ranks are forked before the server has a thread, and start when it says where it listens.
    waiting = {}
    for slot in slots:
        begin, told = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(told)
            os.environ.update(json.loads(os.read(begin, 65536)), PYTHONUNBUFFERED="1")
            os.close(begin)
            os._exit(_ended("rank", *script))
        os.close(begin)
        waiting[pid] = (slot, told)
    server = RendezvousServer()
    port = server.start()
    server.init(slots)
    for slot, told in waiting.values():
        run = create_run_env_vars("127.0.0.1", ["lo"], port)
        given = {name: str(value) for name, value in {**run, **create_slot_env_vars(slot)}.items()}
        os.write(told, json.dumps(given).encode())
        os.close(told)
    return _first_failure(set(waiting))


def _first_failure(ranks: set[int]) -> int:
    failed, ending = 0, 0.0
    while ranks:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid:
            ranks.discard(pid)
            code = os.waitstatus_to_exitcode(status)
            if code and not failed:
                failed, ending = abs(code), time.monotonic() + GRACE
                for other in ranks:
                    os.kill(other, signal.SIGTERM)
            continue
        if failed and time.monotonic() > ending:
            for other in ranks:
                os.kill(other, signal.SIGKILL)
        time.sleep(0.02)
    return failed


COMMANDS = {"rank": _rank, "hvdkit": _hvdkit, "job": _job}

if __name__ == "__main__":
    serve(sys.argv[1])
