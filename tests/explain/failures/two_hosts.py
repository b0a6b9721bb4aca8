"""Jobs over two hosts that cannot work together: ssh, names and interfaces (needs root)."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from cluster.hosts import Cluster

from failures.jobs import BIN, LAUNCH, Failure

TRAIN = (
    "import torch\nimport horovod.torch as hvd\nhvd.init()\nprint(hvd.allreduce(torch.ones(1), name='one'))\n"
)


def deny(hosts: Cluster) -> None:
    """Host b no longer knows the key of a."""
    (hosts.home("b") / ".ssh" / "authorized_keys").write_text("")


def lose_name(hosts: Cluster) -> None:
    """Nobody on a knows where b is."""
    hosts.forget("a", "b")


def rename(hosts: Cluster) -> None:
    """The same network by another name on each host, as eth0 and enp3s0 are."""
    hosts.rename_interface("b", "eth0", "enp3s0")


def refuse(hosts: Cluster) -> None:
    """No ssh server on b."""
    hosts.stop_sshd("b")


def other_key(hosts: Cluster) -> None:
    """Host b was set up anew."""
    hosts.change_host_key("b")


def silent(hosts: Cluster) -> None:
    """A firewall swallows ssh."""
    hosts.drop_port("b", 22)


def no_orted(hosts: Cluster) -> None:
    """Open MPI is outside the PATH of a shell that ssh starts on b."""
    (hosts.home("b") / ".bashrc").write_text("PATH=/usr/games\n")


def as_it_is(hosts: Cluster) -> None:
    """Nothing is wrong with the hosts."""


def on_two_hosts(
    fault: Callable[[Cluster], None],
    controller: str = "gloo",
    *options: str,
    command: tuple[str, ...] = (),
) -> str:
    """Output of a job on hosts a and b after the fault."""
    with tempfile.TemporaryDirectory(prefix="explain") as folder:
        with Cluster(Path(folder)) as hosts:
            fault(hosts)
            Path(folder, "train.py").write_text(TRAIN)
            launch = [str(BIN / "horovodrun"), "-np", "2", "-H", "a:1,b:1", *LAUNCH[controller], *options]
            job = hosts.start("a", [*(command or launch), sys.executable, "train.py"], stderr=-2)
            return job.communicate(timeout=300)[0]


MPIRUN = ("mpirun", "--oversubscribe", "-np", "2", "-H", "a:1,b:1")

FAILURES = [
    Failure("ssh_denied", "gloo", lambda: on_two_hosts(deny)),
    Failure("ssh_denied", "mpirun", lambda: on_two_hosts(deny, command=MPIRUN)),
    Failure("ssh_unknown_host", "gloo", lambda: on_two_hosts(lose_name)),
    Failure("ssh_unknown_host", "mpirun", lambda: on_two_hosts(lose_name, command=MPIRUN)),
    Failure("ssh_unreachable", "refused", lambda: on_two_hosts(refuse)),
    Failure("ssh_unreachable", "refused_mpi", lambda: on_two_hosts(refuse, "mpi")),
    Failure("ssh_unreachable", "firewall_mpirun", lambda: on_two_hosts(silent, command=MPIRUN)),
    Failure("ssh_host_key", "mpirun", lambda: on_two_hosts(other_key, command=MPIRUN)),
    Failure("orted_missing", "path", lambda: on_two_hosts(no_orted, command=MPIRUN)),
    Failure(
        "orted_missing",
        "prefix",
        lambda: on_two_hosts(as_it_is, command=("mpirun", "--prefix", "/usr/local/openmpi", *MPIRUN[1:])),
    ),
    Failure("start_timeout", "gloo", lambda: on_two_hosts(rename, "gloo", "--start-timeout", "1")),
    Failure("interface", "on_one_host", lambda: on_two_hosts(rename, "gloo", "--network-interfaces", "eth0")),
]
