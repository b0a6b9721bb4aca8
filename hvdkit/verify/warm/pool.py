"""The processes that fork ranks: started when they are first needed, kept for later runs of this process."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hvdkit.verify.warm.variables import RESERVED

HERE = Path(__file__).parent
_OURS = (
    *("hvdkit.verify.warm.become", "hvdkit.verify.warm.variables", "hvdkit.verify.warm.folders"),
    "hvdkit.verify.hook.install",
)
# What ranks import, by their framework. The first step of a PyTorch optimizer imports torch._dynamo, which
# takes as long as torch. TensorFlow loads Keras when it is first asked for it.
IMPORTED = {
    "torch": (
        *("torch", "torch._dynamo", *_OURS, "hvdkit.verify.hook.contents", "hvdkit.verify.hook.loaders"),
        *("hvdkit.verify.hook.order", "hvdkit.verify.hook.reached", "hvdkit.verify.hook.watch"),
    ),
    "tensorflow": ("tensorflow", "keras", *_OURS),
}
READ_BY_TENSORFLOW = ("TF_", "TF2_", "XLA_", "KERAS_")
# Variables that are read while Python starts and modules are imported; all others are the rank's own.
READ_BY_IMPORTS = (
    *("CUDA_", "LANG", "LC_", "LD_", "MKL_", "OMP_", "PATH", "PYTHON"),
    *("PYTORCH_", "TORCH", *READ_BY_TENSORFLOW),
)
PROCESSES = 2  # as many as ranks are compared by default; further ranks share them


@dataclass(frozen=True)
class Pool:
    """What forks. interpreter: its Python. framework: what it imported. key: the variables of that time."""

    interpreter: str
    framework: str
    key: tuple[tuple[str, str], ...]
    folder: Path
    processes: tuple[subprocess.Popen[bytes], ...]

    @property
    def python(self) -> list[str]:
        """The command to write in the place of Python, below which its arguments follow."""
        sockets = ":".join(str(_socket(self.folder, number)) for number in range(len(self.processes)))
        return [self.interpreter, "-I", "-S", str(HERE / "client.py"), sockets]

    def stop(self) -> None:
        """End the processes and all that they forked."""
        for process in self.processes:
            process.communicate()  # closes their standard input
        shutil.rmtree(self.folder, ignore_errors=True)


_pools: list[Pool] = []


def warm_python(environment: dict[str, str], framework: str, python: str = sys.executable) -> list[str]:
    """The command that stands for this Python in a run with these variables on this machine.

    framework: a name of IMPORTED.
    """
    read = {name: text for name, text in environment.items() if name.startswith(READ_BY_IMPORTS)}
    key = tuple(sorted(read.items()))
    if not _pools or (_pools[0].interpreter, _pools[0].framework, _pools[0].key) != (python, framework, key):
        stop_all()
        _pools.append(_start(python, framework, key))
    return _pools[0].python


def _start(python: str, framework: str, key: tuple[tuple[str, str], ...]) -> Pool:
    folder = Path(tempfile.mkdtemp(prefix="hvdkit-warm-"))
    variables = {**os.environ, **dict(key), **RESERVED, "TMPDIR": str(folder)}  # imports write there, too
    servers = (
        _server([python, str(HERE / "server.py")], IMPORTED[framework], _socket(folder, number), variables)
        for number in range(PROCESSES)
    )
    return Pool(python, framework, key, folder, tuple(servers))


def _server(
    program: list[str], modules: tuple[str, ...], path: Path, variables: dict[str, str]
) -> subprocess.Popen[bytes]:
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(path))
        door.listen()
        return subprocess.Popen(
            [*program, str(door.fileno()), *modules],
            env=variables,
            stdin=subprocess.PIPE,
            pass_fds=[door.fileno()],
            start_new_session=True,  # Ctrl-C reaches this process alone
        )


def _socket(folder: Path, number: int) -> Path:
    return folder / str(number)


@atexit.register
def stop_all() -> None:
    """End what is kept."""
    while _pools:
        _pools.pop().stop()
