"""Jobs that do not come up: rendezvous, interfaces, hosts, slots, what was built, what is installed."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from failures.jobs import BIN, Failure, job, output

INIT = "import horovod.torch as hvd\nhvd.init()\nprint(hvd.rank(), hvd.size())\n"
ABORT = (
    INIT
    + "from mpi4py import MPI\nif hvd.rank() == 1:\n    MPI.COMM_WORLD.Abort(7)\nMPI.COMM_WORLD.Barrier()\n"
)
# What horovodrun would set for each rank.
RANK = {
    "HOROVOD_RANK": "0",
    "HOROVOD_SIZE": "2",
    "HOROVOD_LOCAL_RANK": "0",
    "HOROVOD_LOCAL_SIZE": "2",
    "HOROVOD_CROSS_RANK": "0",
    "HOROVOD_CROSS_SIZE": "1",
    "HOROVOD_HOSTNAME": "localhost",
    "HOROVOD_CONTROLLER": "gloo",
    "HOROVOD_CPU_OPERATIONS": "gloo",
    "HOROVOD_GLOO_IFACE": "lo",
    "HOROVOD_GLOO_RENDEZVOUS_ADDR": "127.0.0.1",
    "HOROVOD_GLOO_TIMEOUT_SECONDS": "3",
}


def run(script: str, environment: Mapping[str, str], *command: str) -> str:
    """Output of a script in one process, or of a command."""
    with tempfile.TemporaryDirectory(prefix="explain") as folder:
        Path(folder, "train.py").write_text(script)
        return output(command or [sys.executable, "train.py"], Path(folder), environment)


def no_server() -> str:
    """A rank that finds nobody at the rendezvous address."""
    return run(INIT, {**RANK, "HOROVOD_GLOO_RENDEZVOUS_PORT": "9"})


def alone() -> str:
    """The rendezvous is there, the other rank never comes."""
    serve = (
        "import os, subprocess, sys\n"
        "from horovod.runner.http.http_server import RendezvousServer\n"
        "from horovod.runner.common.util.hosts import HostInfo, get_host_assignments\n"
        "server = RendezvousServer(0)\nport = server.start()\n"
        "server.init(get_host_assignments([HostInfo('localhost', 2)], 2))\n"
        "os.environ['HOROVOD_GLOO_RENDEZVOUS_PORT'] = str(port)\n"
        "subprocess.run([sys.executable, 'init.py'])\nserver.stop()\n"
    )
    with tempfile.TemporaryDirectory(prefix="explain") as folder:
        Path(folder, "init.py").write_text(INIT)
        Path(folder, "serve.py").write_text(serve)
        return output([sys.executable, "serve.py"], Path(folder), RANK)


def shadowed(*lines: str) -> str:
    """A Horovod whose extension for PyTorch is not there, or does not load: a copy without its library."""
    import shutil

    import horovod

    with tempfile.TemporaryDirectory(prefix="explain") as folder:
        copy = Path(folder, "horovod")
        shutil.copytree(Path(horovod.__file__).parent, copy)
        for library in (copy / "torch").glob("*.so"):
            library.unlink()
            if lines:
                library.write_text("\n".join(lines))
        Path(folder, "train.py").write_text(INIT)
        return output([sys.executable, "train.py"], Path(folder))


def one_rank_without(controller: str) -> str:
    """Rank 1 finds another Horovod, as on a host whose environment was made without PyTorch."""
    import shutil

    import horovod

    with tempfile.TemporaryDirectory(prefix="explain") as folder:
        copy = Path(folder, "other", "horovod")
        shutil.copytree(Path(horovod.__file__).parent, copy)
        for library in (copy / "torch").glob("*.so"):
            library.unlink()
        rank = "os.environ.get('HOROVOD_RANK') or os.environ['OMPI_COMM_WORLD_RANK']"
        other = f"import os, sys\nif ({rank}) == '1':\n    sys.path.insert(0, {str(copy.parent)!r})\n"
        return job(other + INIT, controller)


def hostfile(text: str, controller: str = "gloo") -> str:
    """horovodrun with this host file."""
    with tempfile.NamedTemporaryFile("w", prefix="explain", suffix=".hosts") as file:
        file.write(text)
        file.flush()
        return job(INIT, controller, options=["-hostfile", file.name])


def aborted(word: str) -> str:
    """A job in which rank 1 calls MPI_Abort, again and again until mpirun says this: it often loses words."""
    for _ in range(20):
        text = job(ABORT, "mpi")
        if word in text:
            return text
    raise RuntimeError(f"mpirun never said {word}")


def without_mpirun() -> str:
    """horovodrun --mpi where PATH holds no mpirun."""
    with tempfile.TemporaryDirectory(prefix="explain") as folder:
        for name in ("sh", "env", "uname"):
            Path(folder, name).symlink_to(f"/usr/bin/{name}")
        Path(folder, "train.py").write_text(INIT)
        command = [
            str(BIN / "horovodrun"),
            "-np",
            "2",
            "--mpi",
            "-H",
            "localhost:2",
            sys.executable,
            "train.py",
        ]
        return output(command, Path(folder), {"PATH": folder})


FAILURES = [
    Failure("rendezvous", "no_server", no_server),
    Failure("peer_missing", "one_of_two", alone),
    Failure(
        "interface",
        "environment",
        lambda: run(INIT, {**RANK, "HOROVOD_GLOO_IFACE": "ib7", "HOROVOD_GLOO_RENDEZVOUS_PORT": "9"}),
    ),
    Failure("interface", "horovodrun", lambda: job(INIT, options=["--network-interfaces", "ib7"])),
    Failure("interface", "horovodrun_mpi", lambda: job(INIT, "mpi", options=["--network-interfaces", "ib7"])),
    Failure("slots", "gloo", lambda: job(INIT, np=4, options=["-H", "localhost:2"])),
    Failure("slots", "mpirun", lambda: run(INIT, {}, "mpirun", "-np", "64", sys.executable, "train.py")),
    Failure("host_format", "no_slots", lambda: job(INIT, options=["-H", "localhost"])),
    Failure("host_format", "hostfile_no_slots", lambda: hostfile("localhost\n")),
    Failure("host_format", "hostfile_comment", lambda: hostfile("# hosts\nlocalhost slots=2\n")),
    Failure("host_format", "hostfile_max_slots", lambda: hostfile("localhost slots=2 max_slots=4\n")),
    Failure("extension_missing", "torch", shadowed),
    Failure("extension_missing", "one_rank_gloo", lambda: one_rank_without("gloo")),
    Failure("extension_missing", "one_rank_mpi", lambda: one_rank_without("mpi")),
    Failure("extension_broken", "torch", lambda: shadowed("not a library")),
    Failure(
        "root_refused",
        "mpirun",
        lambda: run(
            INIT,
            {"OMPI_ALLOW_RUN_AS_ROOT": "", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": ""},
            "mpirun",
            "-np",
            "2",
            sys.executable,
            "train.py",
        ),
    ),
    Failure("mpi_abort", "mpi4py", lambda: aborted("MPI_ABORT was invoked")),
    Failure("mpirun_silent", "mpi4py", lambda: aborted("show_help.c")),
    Failure("no_mpirun", "path", without_mpirun),
    Failure("script_missing", "gloo", lambda: job("", python=[sys.executable, "src/train.py"])),
    Failure("program_missing", "gloo", lambda: job(INIT, python=["python3.77"])),
]
