"""Processes that have imported a framework and Horovod, and fork one for each command, which starts at once.

    python warm.py SOCKET MODULE...   serves until its standard input ends

`Warm` starts them and asks them: `hvdkit ...`, and `rank OUT.json ...` for a script under the probe, which is
the last of the modules. There is one process for each rank of a job, and each has its own hash seed, as ranks
have. Ranks find each other as those of horovodrun do: its rendezvous server runs, and they get its variables.
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
from typing import IO, Any

ROOT = Path(__file__).parents[2]
RANKS = 2
GRACE = 3.0  # seconds that the other rank has to end in, when one has failed
TIMEOUT = 124  # the exit code of what had to be ended


# The first step of an optimizer imports torch._dynamo, which takes longer than all the rest of a program.
TORCH = ("horovod.torch", "torch._dynamo", "truth.probe")


class Warm:
    """The processes, in a `with`. modules: what they import; the last one's watched() runs a rank."""

    def __init__(self, modules: tuple[str, ...] = TORCH) -> None:
        self.modules = modules

    def __enter__(self) -> Warm:
        """Start them, and wait until they answer."""
        self.folder = tempfile.TemporaryDirectory(prefix="truth-warm-")
        self.sockets = [str(Path(self.folder.name) / f"{rank}") for rank in range(RANKS)]
        self.processes = [
            subprocess.Popen(
                [sys.executable, __file__, path, *self.modules],
                env={**environment(), "PYTHONHASHSEED": str(seed)},
                stdin=subprocess.PIPE,
            )
            for seed, path in enumerate(self.sockets, 1)
        ]
        while not all(Path(path).exists() for path in self.sockets):
            for process in self.processes:
                if process.poll() is not None:
                    raise SystemExit(f"exit code {process.returncode} of {__file__}")
            time.sleep(0.1)
        return self

    def __exit__(self, *_: object) -> None:
        """End them, as the end of this process would."""
        for process in self.processes:
            process.communicate()
        self.folder.cleanup()

    def run(self, command: list[str], folder: Path, limit: float) -> tuple[int, str]:
        """Exit code and output of a command in a folder; 124 where it had to be ended, past the limit (s)."""
        with tempfile.TemporaryFile() as output:
            codes = _ended([_Asked(self.sockets[0], command, folder, output, {})], limit)
            return codes[0], _text(output)

    def original(self, command: list[str], folder: Path, limit: float) -> tuple[int, str]:
        """The same of two ranks of a program that torchrun starts."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        found = {
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": port,
            "WORLD_SIZE": RANKS,
            "LOCAL_WORLD_SIZE": RANKS,
        }
        more = [{**found, "RANK": rank, "LOCAL_RANK": rank} for rank in range(RANKS)]
        return self._ranks(command, folder, more, limit)

    def job(self, hosts: str, command: list[str], folder: Path, limit: float) -> tuple[int, str]:
        """The same of two ranks: the exit code of the first that fails, with which the other ends."""
        from horovod.runner.common.util.hosts import get_host_assignments, parse_hosts
        from horovod.runner.gloo_run import create_run_env_vars, create_slot_env_vars
        from horovod.runner.http.http_server import RendezvousServer

        slots = get_host_assignments(parse_hosts(hosts), RANKS)
        server = RendezvousServer()
        run = create_run_env_vars("127.0.0.1", ["lo"], server.start())
        server.init(slots)
        try:
            more = [{**run, **create_slot_env_vars(slot)} for slot in slots]
            return self._ranks(command, folder, more, limit)
        finally:
            server.stop()

    def _ranks(
        self, command: list[str], folder: Path, more: list[dict[str, Any]], limit: float
    ) -> tuple[int, str]:
        with tempfile.TemporaryFile() as output:
            ranks = [_Asked(path, command, folder, output, own) for path, own in zip(self.sockets, more)]
            return next((code for code in _ended(ranks, limit) if code), 0), _text(output)


class _Asked:
    """A command that a process has been asked for."""

    def __init__(
        self, path: str, command: list[str], folder: Path, output: IO[bytes], more: dict[str, Any]
    ) -> None:
        self.line = socket.socket(socket.AF_UNIX)
        self.line.connect(path)
        env = {**environment(), **{name: str(value) for name, value in more.items()}}
        said = json.dumps({"argv": command, "env": env, "cwd": str(folder)}).encode()
        fds = array.array("i", [output.fileno()]).tobytes()
        self.line.sendmsg([len(said).to_bytes(4, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
        self.line.sendall(said)
        self.session = int.from_bytes(self.line.recv(4), "big")

    def code(self) -> int:
        """Its exit code, when its line says something; 1 where it died."""
        answer = self.line.recv(1)
        return answer[0] if answer else 1

    def end(self) -> None:
        """End all of its processes."""
        with contextlib.suppress(ProcessLookupError):  # they may have ended
            os.killpg(self.session, signal.SIGKILL)
        self.line.close()


def _ended(asked: list[_Asked], limit: float) -> list[int]:
    """The exit codes of commands in the order in which they end; none runs on."""
    codes: list[int] = []
    waiting, until = list(asked), time.monotonic() + limit
    try:
        while waiting:
            lines = select.select([one.line for one in waiting], [], [], max(until - time.monotonic(), 0))[0]
            if not lines:
                return [*codes, TIMEOUT]
            for one in [one for one in waiting if one.line in lines]:
                waiting.remove(one)
                codes.append(one.code())
                if codes[-1]:
                    until = min(until, time.monotonic() + GRACE)
        return codes
    finally:
        for one in asked:
            one.end()


def _text(output: IO[bytes]) -> str:
    output.seek(0)
    return output.read().decode(errors="replace")


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
        "PYTHONUNBUFFERED": "1",
        "NO_COLOR": "1",
    }


def serve(path: str, modules: list[str]) -> None:
    """Import what the commands need, and fork a process for each that asks."""
    rules = import_module("hvdkit.migrate.rules")
    for module in (
        *modules,
        "hvdkit.migrate.command",
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
                _answer(line, modules[-1])
            line.close()


def _answer(line: socket.socket, probe: str) -> None:
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
    sys.argv = asked["argv"]
    code = 1
    try:
        code = _hvdkit() if sys.argv[0] == "hvdkit" else import_module(probe).watched()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    except Exception as error:  # of hvdkit or the probe: printed as python would, and exit code 1
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        with contextlib.suppress(OSError, ValueError):  # closed, or nobody waits
            sys.stdout.flush()
            sys.stderr.flush()
            line.sendall(bytes([code & 255]))
        os._exit(code)


def _hvdkit() -> int:
    from hvdkit.cli import main

    return main(sys.argv[1:])


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2:])
