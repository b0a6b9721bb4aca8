"""One rank's end of the lifeline: `python -m hvdkit.launch.rank ADDRESS:PORT -- COMMAND`, on the rank's host.

Starts the command with the interface of this host that leads to the launcher, forwards what it prints, tells
the launcher how it ended, and ends it when the launcher is gone. Whatever ends this process ends the command
and its workers.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from hvdkit.hosts.interfaces import own
from hvdkit.launch import world
from hvdkit.launch.follower import Follower
from hvdkit.launch.lifeline import BEAT_S, SILENCE_S
from hvdkit.launch.orphans import die_with_parent
from hvdkit.launch.streams import Forwarder
from hvdkit.launch.wire import read_line
from hvdkit.signals import heeded
from hvdkit.sync.folder import VARIABLE, prepare
from hvdkit.sync.settings import VARIABLE as CHECK_SYNC

_NOT_FOUND = 127  # as a shell's
_GRACE_S = 5.0
_REST_S = 5.0  # for what the command has printed, once the launcher has ended the job
_LONGEST_ANSWER = 1 << 20  # where all ranks are
_SENDING = threading.Lock()
_LOCAL_RANKS = ("HOROVOD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID")
_RANKS = ("HOROVOD_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK")


def main(address: str, command: list[str]) -> int:
    """Run the command as this rank; its exit code, 128 + N where signal N ended it."""
    rank = rank_of(os.environ)
    name = f"rank {rank} on {socket.gethostname()}"
    try:
        line, prints, environ = _connected(address, rank)
    except (OSError, ValueError, TypeError) as error:
        print(f"hvdkit: {name} cannot reach the launcher at {address}: {error}", file=sys.stderr)
        return 1
    # For sending: what the watch records may take longer than a beat.
    out = line.dup()
    out.settimeout(SILENCE_S)
    asked, over = threading.Event(), threading.Event()
    for number in heeded((signal.SIGTERM, signal.SIGINT, signal.SIGHUP)):
        signal.signal(number, lambda *_: asked.set())
    with _watched(environ) as folder:
        try:
            child = _started(command, environ)
        except OSError as error:
            print(f"hvdkit: {name} cannot start {command[0]}: {error.strerror}", file=sys.stderr)
            _send(out, {"exit": _NOT_FOUND})
            return _NOT_FOUND
        assert child.stdout is not None and child.stderr is not None
        forwarder = Forwarder(prints, child.stdout, child.stderr)
        # Not in the handler: this thread waits for the child, and holds meanwhile what _end asks.
        threading.Thread(target=_stop_when, args=(asked, over, out, child), daemon=True).start()
        threading.Thread(target=_stay, args=(line, over, out, child, name), daemon=True).start()
        follower = Follower(folder, child.pid, functools.partial(_send, out)) if folder else None
        code = child.wait()
        _end(child)  # workers that it left behind
        if follower is not None:
            follower.end()
    forwarder.finish()
    code = code if code >= 0 else 128 - code
    if code:
        _send(out, {"exit": code})  # at once: the first to fail is named
        over.wait()  # see Lifeline: a rank that is seen to fail has all others ended
        forwarder.join(_REST_S)
    else:
        while not forwarder.join(BEAT_S) and not over.is_set():
            continue  # a launcher whose terminal is paused reads on later
        _send(out, {"exit": code})
    return code


def _connected(address: str, rank: int) -> tuple[socket.socket, socket.socket, dict[str, str]]:
    """The lifeline, the connection for what the command prints, and the command's variables, once the
    launcher expects this rank. Raises: OSError, ValueError, TypeError.
    """
    host, _, port = address.rpartition(":")
    line = socket.create_connection((host, int(port)), timeout=SILENCE_S)
    environ = _expected(line, rank)
    prints = socket.create_connection((host, int(port)), timeout=SILENCE_S)
    _send(prints, {"job": os.environ.get("HVDKIT_JOB", ""), "rank": rank, "streams": True})
    prints.settimeout(None)  # a terminal that is paused holds up what is printed
    environ.update(interface_variables(line.getsockname()[0], environ.get(world.VARIABLE, "")))
    # Under mpirun a rank has a terminal of its own, which Python writes to line by line.
    environ.setdefault("PYTHONUNBUFFERED", "1")
    return line, prints, environ


def _started(command: list[str], environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
        preexec_fn=die_with_parent,
    )


def _expected(line: socket.socket, rank: int) -> dict[str, str]:
    """This process's variables, with those of the world that its command belongs to, once the launcher
    expects this rank. Raises: OSError, ValueError, TypeError.
    """
    hello = {"job": os.environ.get("HVDKIT_JOB", ""), "rank": rank, "host": socket.gethostname()}
    kind = os.environ.get(world.VARIABLE, "")
    with world.free_port() as held:
        local = next((int(os.environ[name]) for name in _LOCAL_RANKS if name in os.environ), 0)
        _send(line, {**hello, "port": held.getsockname()[1], "local_rank": local} if kind else hello)
        while True:
            answer = read_line(line, SILENCE_S, _LONGEST_ANSWER).strip()
            if not kind:
                return dict(os.environ)
            if answer:  # an empty line is a sign of life: not all ranks have come
                return world.rank_environment(kind, rank, world.separated(answer.decode()), os.environ)


@contextlib.contextmanager
def _watched(environ: dict[str, str]) -> Iterator[Path | None]:
    """A folder for what the command records, named in its variables; None where nobody watches."""
    if not environ.pop(VARIABLE, ""):
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="hvdkit-watch-") as name:
        prepare(Path(name))
        environ[VARIABLE] = name
        environ.setdefault(CHECK_SYNC, "0")  # set to anything, Python starts hvdkit.sync in the command
        yield Path(name)


def _stop_when(
    asked: threading.Event, over: threading.Event, line: socket.socket, child: subprocess.Popen[bytes]
) -> None:
    asked.wait()
    _stop(line, child)
    over.set()


def _stop(line: socket.socket, child: subprocess.Popen[bytes]) -> None:
    """End the child because somebody asked for it; say so first, as its exit code is not its own doing."""
    _send(line, {"stopped": True})
    _end(child)


def rank_of(environ: Mapping[str, str]) -> int:
    """The rank that horovodrun or mpirun gave this process."""
    return next(int(environ[name]) for name in _RANKS if name in environ)


def interface_variables(address: str, world: str = "") -> dict[str, str]:
    """Horovod's Gloo, or that of another world, and NCCL take the interface that has this address: names
    differ from host to host.
    """
    name = next((each.name for each in own() if each.address == address), "")
    readers = ("GLOO_SOCKET_IFNAME" if world else "HOROVOD_GLOO_IFACE", "NCCL_SOCKET_IFNAME")
    return dict.fromkeys(readers, name) if name else {}


def _stay(
    line: socket.socket,
    over: threading.Event,
    out: socket.socket,
    child: subprocess.Popen[bytes],
    name: str,
) -> None:
    """Show signs of life, and end the child when the launcher shows none."""
    line.settimeout(BEAT_S)
    heard = time.monotonic()
    while time.monotonic() - heard < SILENCE_S:
        _send(out, {})
        try:
            if not line.recv(4096):
                break
            heard = time.monotonic()
        except TimeoutError:
            continue
        except OSError:
            break
    if child.poll() is None:
        with contextlib.suppress(OSError):  # whoever read this rank's output may be gone, too
            print(
                f"hvdkit: the launcher is gone or stopped the job; {name} exits", file=sys.stderr, flush=True
            )
        _stop(out, child)
    over.set()


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ask the command and all of its processes to end, then end them."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            return
        deadline = time.monotonic() + _GRACE_S
        while child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)


def _send(line: socket.socket, message: Mapping[str, object]) -> None:
    with contextlib.suppress(OSError), _SENDING:  # `_stay` sees it too, and acts
        line.sendall(json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[3:]))
