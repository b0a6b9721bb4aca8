"""Faults of real clusters, made on host b or a of a pair, and taken back."""

from __future__ import annotations

import contextlib
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from .hosts import Cluster

CTRL_PORT = 9988
ROOT = Path(__file__).parents[2]
Make = Callable[[Cluster, Path], AbstractContextManager[None]]


@dataclass(frozen=True)
class Fault:
    """make: the fault, as long as the block lasts. check: id of the check that finds it. fix: part of the
    finding's fix. stops: `hvdkit run` starts no rank. env: of the commands on host a.
    """

    make: Make
    check: str
    fix: str
    stops: bool = True
    options: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)


@contextlib.contextmanager
def ssh_refused(cluster: Cluster, _: Path) -> Iterator[None]:
    cluster.stop_sshd("b")
    yield
    cluster.start_sshd("b")


@contextlib.contextmanager
def host_key_changed(cluster: Cluster, _: Path) -> Iterator[None]:
    cluster.change_host_key("b")
    yield
    # What the fix says.
    known = cluster.home("a") / ".ssh" / "known_hosts"
    for name in ("b", cluster.address("b")):
        cluster.run("a", ["ssh-keygen", "-R", name, "-f", known])
        scanned = cluster.run("a", ["ssh-keyscan", "-t", "ed25519", name]).stdout
        known.write_text(known.read_text() + scanned)


@contextlib.contextmanager
def another_file_on_b(cluster: Cluster, file: Path, text: str) -> Iterator[None]:
    """Host b has another content at the place of a file that both hosts share."""
    other = cluster.directory / f"other-{file.name}"
    other.write_text(text)
    cluster.run("b", ["mount", "--bind", other, file.resolve()])
    try:
        yield
    finally:
        cluster.run("b", ["umount", file.resolve()])


def in_package(name: str, old: str, new: str) -> Make:
    """A file of the environment, with some text replaced on host b."""

    def make(cluster: Cluster, _: Path) -> AbstractContextManager[None]:
        (file,) = (ROOT / ".venv" / "lib").glob(f"python3*/site-packages/{name}")
        text = file.read_text()
        assert old in text
        return another_file_on_b(cluster, file, text.replace(old, new))

    return make


def another_python(cluster: Cluster, _: Path) -> AbstractContextManager[None]:
    """Host b's interpreter says that it is 3.10: it runs a line of this file whenever it starts."""
    (file,) = (ROOT / ".venv" / "lib").glob("python3*/site-packages/_editable_impl_hvdkit.pth")
    fields = "major minor micro releaselevel serial"
    version = f"collections.namedtuple('version_info', '{fields}')(3, 10, 14, 'final', 0)"
    text = f"{file.read_text().rstrip()}\nimport collections, sys; sys.version_info = {version}\n"
    return another_file_on_b(cluster, file, text)


def another_script(cluster: Cluster, folder: Path) -> AbstractContextManager[None]:
    script = folder / "train.py"
    return another_file_on_b(cluster, script, script.read_text() + "# an older state\n")


@contextlib.contextmanager
def port_taken(cluster: Cluster, _: Path) -> Iterator[None]:
    serve = f"import socket, time; s = socket.create_server(('', {CTRL_PORT}))"
    holder = cluster.start("a", ["python", "-c", f"{serve}; print(flush=True); time.sleep(600)"])
    assert holder.stdout is not None and holder.stdout.readline()
    yield
    cluster.signal(holder, signal.SIGKILL)
    holder.communicate(timeout=60)


@contextlib.contextmanager
def port_dropped(cluster: Cluster, _: Path) -> Iterator[None]:
    cluster.drop_port("a", CTRL_PORT)
    yield
    cluster.run("a", ["nft", "delete table inet test"])


@contextlib.contextmanager
def firewall(cluster: Cluster, _: Path) -> Iterator[None]:
    """Only ssh gets in."""
    cluster.run(
        "b",
        [
            "nft",
            "add table inet test; add chain inet test input { type filter hook input priority 0; }; "
            "add rule inet test input ct state new iifname eth0 tcp dport != 22 drop",
        ],
    )
    yield
    cluster.run("b", ["nft", "delete table inet test"])


def unresolvable(on: str, name: str) -> Make:
    @contextlib.contextmanager
    def make(cluster: Cluster, _: Path) -> Iterator[None]:
        hosts = cluster.file(on, "/etc/hosts")
        before = hosts.read_text()
        cluster.forget(on, name)
        yield
        hosts.write_text(before)

    return make


@contextlib.contextmanager
def equal_hostnames(cluster: Cluster, _: Path) -> Iterator[None]:
    cluster.set_hostname("b", "a")
    yield
    cluster.set_hostname("b", "b")


@contextlib.contextmanager
def other_interface_name(cluster: Cluster, _: Path) -> Iterator[None]:
    cluster.rename_interface("b", "eth0", "ens3")
    yield
    cluster.rename_interface("b", "ens3", "eth0")


@contextlib.contextmanager
def virtual_interface_first(cluster: Cluster, _: Path) -> Iterator[None]:
    for name in cluster.names:
        cluster.add_interface(name, "docker0", "172.17.0.1/16")
    yield
    for name in cluster.names:
        cluster.run(name, ["ip", "link", "delete", "docker0"])


@contextlib.contextmanager
def small_shm(cluster: Cluster, _: Path) -> Iterator[None]:
    cluster.limit_shm("b", "32m")
    yield
    cluster.limit_shm("b", "1g")


@contextlib.contextmanager
def nothing(cluster: Cluster, _: Path) -> Iterator[None]:
    yield


PROXY = {"http_proxy": "http://user:password@proxy.example:3128"}
FAULTS = {
    "ssh refused": Fault(ssh_refused, "ssh", "systemctl start ssh"),
    "host key changed": Fault(host_key_changed, "ssh", "ssh-keygen -R b"),
    "another Horovod": Fault(
        in_package("horovod-*.dist-info/METADATA", "Version: 0.28.1", "Version: 0.27.0"),
        "horovod",
        "hvdkit install-horovod",
    ),
    "another torch": Fault(
        in_package("torch/version.py", "2.13.0", "2.12.0"), "torch", "on every host: pip install torch==2.1"
    ),
    "Horovod for another torch": Fault(
        in_package("horovod/metadata.json", "2.13.0", "2.12.0"), "horovod", "hvdkit install-horovod"
    ),
    "another Python": Fault(another_python, "python", "the same Python on every host"),
    "another script": Fault(another_script, "script", "rsync -a ./ b:"),
    "port taken": Fault(port_taken, "port", f"sport = :{CTRL_PORT}", options=("--ctrl-port", str(CTRL_PORT))),
    "port dropped": Fault(port_dropped, "reach", "firewall", options=("--ctrl-port", str(CTRL_PORT))),
    "firewall": Fault(firewall, "reach", "firewall"),
    "proxy": Fault(nothing, "proxies", "export NO_PROXY=b,10.77.0.2", stops=False, env=PROXY),
    "b unknown on a": Fault(unresolvable("a", "b"), "ssh", "ADDRESS b"),
    "a unknown on b": Fault(unresolvable("b", "a"), "names", "echo '10.77.0.1 a' >> /etc/hosts"),
    "equal hostnames": Fault(equal_hostnames, "names", "ssh b hostnamectl set-hostname b"),
    "other interface name": Fault(other_interface_name, "network", "ip link set ens3 name eth0", stops=False),
    "virtual interface": Fault(
        virtual_interface_first,
        "interfaces",
        "export NCCL_SOCKET_IFNAME=eth0 HOROVOD_GLOO_IFACE=eth0",
        stops=False,
    ),
    "small /dev/shm": Fault(small_shm, "shm", "--shm-size"),
}


def output_of(done: subprocess.CompletedProcess[str]) -> str:
    return f"{done.stdout}\n{done.stderr}"
