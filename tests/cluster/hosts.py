"""Real hosts on one machine: each in namespaces of its own, joined by a switch that is one, too.

A host has its own address, hostname, /etc/hosts, home, /dev/shm, processes, interfaces, ssh server and keys;
it shares the files of this machine, as hosts with a network file system do. Everything ends with `Cluster`,
also when the test process is killed: the first process of a host lives as long as its standard input.

    with Cluster(tmp_path) as cluster:                        # hosts a and b, eth0, 10.77.0.1 and 10.77.0.2
        cluster.run("a", ["ssh", "b", "hostname"]).stdout     # "b\n"; raises when it fails or takes too long
        job = cluster.start("a", ["sleep", "60"])             # subprocess.Popen; output in pipes as text
        cluster.signal(job, signal.SIGINT)                    # what Ctrl-C does
        cluster.processes("a")                                # what still runs there, services left out
        cluster.cut("b")                                      # and the other faults below

`env` adds to a small clean environment; nothing is inherited. Needs root; the commands are installed by
scripts/test. `name in ("a", "b")` is the host's place in /etc/hosts and at first its hostname.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import psutil

COMMANDS = ("ip", "tc", "nft", "nsenter", "unshare", "ssh", "sshd", "ssh-keygen")
NETWORK = "10.77.0"
INTERFACE = "eth0"
_ROOT = Path(__file__).parents[2]
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# The last command of a host's first process: it reaps what is orphaned, and ends with its standard input.
_LIVE = "echo up; while read -r _; do :; done"
# Interfaces that are added later get a lower index than the wire, so that they come first in every list.
_WIRE_INDEX = 100


@dataclass
class _Host:
    """One host's first process, as this machine numbers it, and the files that only it sees."""

    address: str
    files: Path
    holder: subprocess.Popen[str]
    first_pid: int
    services: list[subprocess.Popen[str]] = field(default_factory=list)
    sshd: subprocess.Popen[str] | None = None

    @property
    def home(self) -> Path:
        return self.files / "home"


class Cluster:
    """Hosts `names` on one switch; a context manager. directory: an empty or new folder for their files."""

    def __init__(self, directory: Path, names: Sequence[str] = ("a", "b")) -> None:
        missing = [command for command in COMMANDS if shutil.which(command, path=_SYSTEM_PATH) is None]
        if missing or os.geteuid() != 0:
            raise RuntimeError(f"hosts need root and {', '.join(missing or ['nothing else'])}: scripts/test")
        self.directory = directory
        self.names = tuple(names)
        self._hosts: dict[str, _Host] = {}
        self._added = 0

    def __enter__(self) -> Cluster:
        self._stack = contextlib.ExitStack()
        with contextlib.ExitStack() as stack:
            self._switch = stack.enter_context(_namespace(["unshare", "--net"], "ip link set lo up"))
            self._on_switch("ip", "link", "add", "switch", "up", "type", "bridge")
            addresses = {name: f"{NETWORK}.{place}" for place, name in enumerate(self.names, 1)}
            for name, address in addresses.items():
                self._hosts[name] = self._make_host(name, address, addresses, stack)
            self._make_keys()
            for name in self.names:
                self.start_sshd(name)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    # -- work --

    def address(self, name: str) -> str:
        return self._hosts[name].address

    def home(self, name: str) -> Path:
        """The host's home folder, with its .ssh, as this machine sees it."""
        return self._hosts[name].home

    def file(self, name: str, path: str) -> Path:
        """The host's own /etc/hosts, ssh_host_key or sshd_config: edit it to make a fault."""
        return self._hosts[name].files / Path(path).name

    def start(
        self,
        name: str,
        command: Sequence[str | Path],
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        **popen: object,
    ) -> subprocess.Popen[str]:
        """Start a command on a host. Keywords go to Popen; output goes to pipes unless they say else."""
        host = self._hosts[name]
        environ = {
            "PATH": f"{Path(sys.executable).parent}:{_SYSTEM_PATH}",
            "HOME": str(host.home),
            "LANG": "C.UTF-8",
            "OMP_NUM_THREADS": "1",
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "PYTHONPATH": str(_ROOT),
            **(env or {}),
        }
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **popen}
        return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
            [*_enter(host), "env", "-C", cwd or self.directory, *command],
            env=environ,
            text=True,
            start_new_session=True,
            **options,
        )

    def run(
        self,
        name: str,
        command: Sequence[str | Path],
        env: Mapping[str, str] | None = None,
        timeout: float = 120,
        cwd: Path | None = None,
        check: bool = True,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on a host to its end.

        Raises:
            AssertionError: it failed and `check` is true, or it was not done after `timeout` seconds and was
                killed. The message holds its output.
        """
        process = self.start(name, command, env, cwd)
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.signal(process, signal.SIGKILL)
            stdout, stderr = process.communicate()
            raise AssertionError(
                f"not done after {timeout} s on {name}: {command}\n{stdout}\n{stderr}"
            ) from None
        if check and process.returncode != 0:
            raise AssertionError(f"exit {process.returncode} on {name}: {command}\n{stdout}\n{stderr}")
        return subprocess.CompletedProcess(list(command), process.returncode, stdout, stderr)

    def signal(self, process: subprocess.Popen[str], number: signal.Signals) -> None:
        """Send a signal to a started command and its process group, as a terminal does.

        The process that entered the host waits for the command and gives its exit code: it is left alone.
        """
        for member in psutil.process_iter():
            with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
                if member.pid != process.pid and os.getpgid(member.pid) == process.pid:
                    member.send_signal(number)

    def processes(self, name: str) -> list[psutil.Process]:
        """What runs on a host now: no services, none that has ended and only waits to be collected."""
        host = self._hosts[name]
        services = {host.first_pid}
        for service in host.services:
            with contextlib.suppress(psutil.NoSuchProcess):
                services |= {child.pid for child in psutil.Process(service.pid).children()}
        namespace = Path(f"/proc/{host.first_pid}/ns/pid").readlink()
        found = []
        for process in psutil.process_iter(["status"]):
            with contextlib.suppress(OSError, psutil.Error):
                if process.pid not in services and process.info["status"] != psutil.STATUS_ZOMBIE:
                    if Path(f"/proc/{process.pid}/ns/pid").readlink() == namespace:
                        found.append(process)
        return found

    def service(
        self, name: str, command: Sequence[str | Path], env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[str]:
        """Start a daemon in the foreground: part of the host, so `processes` leaves it out."""
        log = (self._hosts[name].files / f"{Path(command[0]).name}.log").open("a", encoding="utf-8")
        with log:
            service = self.start(name, command, env, stdout=log, stderr=subprocess.STDOUT)
        self._hosts[name].services.append(service)
        return service

    def start_sshd(self, name: str) -> None:
        host = self._hosts[name]
        sshd = shutil.which("sshd", path=_SYSTEM_PATH)
        host.sshd = self.service(name, [str(sshd), "-D", "-e", "-f", host.files / "sshd_config"])
        listening = f'exec 3<> "/dev/tcp/{host.address}/22"'
        self.run(
            name, ["bash", "-c", f"for _ in {{1..200}}; do {listening} && exit; sleep 0.05; done; exit 1"]
        )

    # -- faults --

    def stop_sshd(self, name: str) -> None:
        """ssh to this host is refused. Sessions that are open stay."""
        host = self._hosts[name]
        assert host.sshd is not None
        for child in psutil.Process(host.sshd.pid).children():
            child.kill()
        host.sshd.wait(timeout=30)
        host.services.remove(host.sshd)
        host.sshd = None

    def change_host_key(self, name: str) -> None:
        """This host's ssh key is no longer the one that the others know."""
        key = self.file(name, "ssh_host_key")
        key.unlink()
        _make_key(key)
        self.stop_sshd(name)
        self.start_sshd(name)

    def set_hostname(self, name: str, hostname: str) -> None:
        self.run(name, ["hostname", hostname])

    def forget(self, name: str, other: str) -> None:
        """Host `name` can no longer resolve the name `other`."""
        hosts = self.file(name, "/etc/hosts")
        lines = hosts.read_text().splitlines(keepends=True)
        hosts.write_text("".join(line for line in lines if other not in line.split()))

    def add_interface(self, name: str, interface: str, address: str) -> None:
        """A virtual interface that leads nowhere, as docker0 is. address: such as "172.17.0.1/16"."""
        self._added += 1
        self.run(
            name,
            ["ip", "link", "add", interface, "index", str(_WIRE_INDEX // 2 + self._added), "type", "bridge"],
        )
        self.run(name, ["ip", "address", "add", address, "dev", interface])
        self.run(name, ["ip", "link", "set", interface, "up"])

    def rename_interface(self, name: str, old: str, new: str) -> None:
        for words in ([old, "down"], [old, "name", new], [new, "up"]):
            self.run(name, ["ip", "link", "set", *words])

    def drop_port(self, name: str, port: int) -> None:
        """This host's firewall silently drops what comes in for a TCP port."""
        rules = (
            "add table inet test; add chain inet test input { type filter hook input priority 0; }; "
            f"add rule inet test input tcp dport {port} drop"
        )
        self.run(name, ["nft", rules])

    def limit_shm(self, name: str, size: str) -> None:
        """size: as mount takes it, such as "1m"."""
        self.run(name, ["mount", "-o", f"remount,size={size}", "/dev/shm"])

    def limit_rate(self, name: str, rate: str) -> None:
        """What the host sends is slowed down. rate: as tc takes it, such as "10mbit"."""
        shape = ["root", "tbf", "rate", rate, "burst", "64k", "latency", "400ms"]
        self.run(name, ["tc", "qdisc", "replace", "dev", INTERFACE, *shape])

    def cut(self, name: str) -> None:
        """Pull the host's wire out of the switch: nothing reaches it, and nobody is told."""
        self._on_switch("ip", "link", "set", self._port(name), "down")

    def mend(self, name: str) -> None:
        """Put the wire back."""
        self._on_switch("ip", "link", "set", self._port(name), "up")

    # -- making the hosts --

    def _port(self, name: str) -> str:
        """The switch's end of a host's wire; names of interfaces are short."""
        return f"port{self.names.index(name)}"

    def _on_switch(self, *command: str) -> None:
        _in_network(self._switch.pid, *command)

    def _make_host(
        self, name: str, address: str, addresses: Mapping[str, str], stack: contextlib.ExitStack
    ) -> _Host:
        files = self.directory / f"host-{name}"
        home = files / "home"
        home.mkdir(parents=True)
        user = pwd.getpwuid(os.getuid())
        own = {
            "/etc/hosts": "127.0.0.1 localhost\n" + "".join(f"{at} {to}\n" for to, at in addresses.items()),
            "/etc/resolv.conf": "",
            "/etc/passwd": Path("/etc/passwd").read_text().replace(f":{user.pw_dir}:", f":{home}:"),
            # sshd turns away a user whose password is locked with "!".
            "/etc/shadow": f"{user.pw_name}:*:19000:0:99999:7:::\nsshd:*:19000:0:99999:7:::\n",
        }
        script = [f"hostname {name}", "ip link set lo up", "mount -t tmpfs -o size=1g tmpfs /dev/shm"]
        script += ["mount -t tmpfs tmpfs /run", "mkdir -m 755 /run/sshd"]
        for path, text in own.items():
            (files / Path(path).name).write_text(text)
            script.append(f"mount --bind '{files / Path(path).name}' \"$(readlink -f {path})\"")
        kinds = ["--net", "--uts", "--mount", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc"]
        holder = stack.enter_context(_namespace(["unshare", *kinds], " && ".join(script)))
        (first,) = psutil.Process(holder.pid).children()
        host = _Host(address, files, holder, first.pid)
        port = self._port(name)
        wire = [
            "index",
            str(_WIRE_INDEX),
            "type",
            "veth",
            "peer",
            "name",
            port,
            "netns",
            str(self._switch.pid),
        ]
        _in_network(first.pid, "ip", "link", "add", INTERFACE, *wire)
        self._on_switch("ip", "link", "set", port, "master", "switch", "up")
        self._hosts[name] = host
        self.run(name, ["ip", "address", "add", f"{address}/24", "dev", INTERFACE])
        self.run(name, ["ip", "link", "set", INTERFACE, "up"])
        return host

    def _make_keys(self) -> None:
        user_key = self.directory / "id_ed25519"
        _make_key(user_key)
        known = []
        for name, host in self._hosts.items():
            key = host.files / "ssh_host_key"
            _make_key(key)
            known.append(f"{name},{host.address} {key.with_suffix('.pub').read_text()}")
            (host.files / "sshd_config").write_text(
                f"ListenAddress {host.address}\nHostKey {key}\nAuthorizedKeysFile .ssh/authorized_keys\n"
                "StrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin prohibit-password\n"
                "PasswordAuthentication no\nKbdInteractiveAuthentication no\n"
            )
        for host in self._hosts.values():
            ssh = host.home / ".ssh"
            ssh.mkdir(mode=0o700)
            shutil.copy(user_key, ssh / "id_ed25519")
            shutil.copy(user_key.with_suffix(".pub"), ssh / "authorized_keys")
            (ssh / "known_hosts").write_text("".join(known))


@contextlib.contextmanager
def _namespace(unshare: Sequence[str], script: str) -> Iterator[subprocess.Popen[str]]:
    """New namespaces that live until the block ends or this process does."""
    holder = subprocess.Popen(
        [*unshare, "bash", "-c", f"{script} && {{ {_LIVE}; }}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PATH": _SYSTEM_PATH},
        text=True,
        start_new_session=True,
    )
    assert holder.stdin is not None and holder.stdout is not None
    try:
        if holder.stdout.readline() != "up\n":
            raise RuntimeError(f"cannot make a namespace: {' '.join(unshare)}")
        yield holder
    finally:
        holder.stdin.close()
        holder.stdout.close()
        holder.wait(timeout=60)


def _enter(host: _Host) -> list[str]:
    return ["nsenter", f"--target={host.first_pid}", "--net", "--uts", "--mount", "--ipc", "--pid"]


def _in_network(pid: int, *command: str) -> None:
    """Run a command of this machine in the network of a process."""
    subprocess.run(["nsenter", "--net", f"--target={pid}", *command], check=True)


def _make_key(path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
