"""`hvdkit setup-ssh`: a key where there is none, and what to copy where until ssh asks nothing any more.

Writes one thing, and only if it is not there: a key pair in ~/.ssh. Host keys are never taken on trust and
nothing is changed on another host; both are for the person who can tell whether a host is the right one.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from hvdkit import reports
from hvdkit.arguments import CommandParser, parsed
from hvdkit.errors import HvdkitError, UsageError
from hvdkit.hosts import lists as hosts
from hvdkit.hosts.interfaces import is_own_address
from hvdkit.hosts.lists import Host
from hvdkit.hosts.ssh import CONNECT_TIMEOUT_S, Ssh, refusal
from hvdkit.shell import word

# In the order in which ssh offers them.
_NAMES = ("id_rsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk")
EXAMPLES = """\
hvdkit setup-ssh -H a,b              until it reports that every host is reached
hvdkit setup-ssh --hostfile hosts
hvdkit setup-ssh -H a,b -i ~/.ssh/cluster
"""
NOTE = """\
Creates ~/.ssh/id_ed25519 if there is no key, without a passphrase, since a job cannot type one. Nothing else
is written, here or on the hosts."""
EXITS = {"0": "all hosts are reached", "1": "something is left", "2": "there is no ssh"}


class SshMissingError(HvdkitError):
    """ssh or one of its programs is not installed, or would not make a key."""


@dataclass(frozen=True)
class Step:
    """What is left to do for one host; nothing if it is reached. todo: commands and edits, in order."""

    host: str
    seen: str
    todo: tuple[str, ...] = ()


def main(argv: list[str]) -> int:
    """Exit code: 0 every host is reached, 1 something is left. Raises: HvdkitError."""
    asked = parsed(parser(), argv[1:])
    named = hosts.from_options(asked)
    if named is None:
        raise UsageError("no hosts are named", fix="hvdkit setup-ssh -H a,b")
    key, is_new = find_or_make_key(asked.ssh_identity_file)
    if is_new:
        print(f"hvdkit: created {key} and {key}.pub", file=sys.stderr)
    ssh = Ssh(asked.ssh_port, asked.ssh_identity_file)
    steps = check(named.hosts, key, ssh)
    if asked.json is not None:
        found = {"key": str(key), "made": is_new, "hosts": [asdict(step) for step in steps]}
        reports.put_json(asked.json, found)
    if asked.json != reports.STDOUT:
        for step in steps:
            print(f"{step.host}: {step.seen}")
            for text in step.todo:
                print(f"  {text}")
    return 1 if any(step.todo for step in steps) else 0


def parser() -> CommandParser:
    """The arguments of the command."""
    made = CommandParser(
        "setup-ssh",
        "Report what is left to do until ssh from here to every host works without a prompt.",
        EXAMPLES,
        EXITS,
        NOTE,
        "hvdkit setup-ssh [options]",
    )
    hosts.add_options(made)
    reports.add_reports(made, {"--json": "the same as JSON"})
    return made


def find_or_make_key(named: Path | None) -> tuple[Path, bool]:
    """The private key that ssh offers, and whether it was made now. Raises: SshMissingError."""
    folder = Path.home() / ".ssh"
    candidates = [named.expanduser()] if named is not None else [folder / name for name in _NAMES]
    for key in candidates:
        if key.is_file():
            return key, False
    key = candidates[0] if named is not None else folder / "id_ed25519"
    key.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    done = _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key))
    if done.returncode != 0:
        raise SshMissingError(
            f"ssh-keygen did not create a key: {done.stderr.strip()}", fix="name another file: -i FILE"
        )
    return key, True


def check(listed: Sequence[Host], key: Path, ssh: Ssh) -> list[Step]:
    """What is left for each host, in their order. Raises: SshMissingError."""
    names = [host.name for host in listed]
    with ThreadPoolExecutor(len(names)) as pool:
        return list(pool.map(lambda name: _check(name, key, ssh), names))


def _check(name: str, key: Path, ssh: Ssh) -> Step:
    if is_own_address(name):
        return Step(name, "this machine, no ssh needed")
    code, errors = _try(ssh.command(name, ["true"]))
    if code == 0:
        return Step(name, "reached without a prompt")
    problem = refusal(name, code, errors)
    if "host key of" not in problem.seen:
        denied = "does not accept your key" in problem.seen
        return Step(name, problem.seen, _copy_key(name, key, ssh) if denied else (problem.fix,))
    if "changed" in problem.seen:
        return Step(name, problem.seen, (problem.fix,))
    # Whether the key is accepted can be asked without trusting the host for longer than this question.
    asking = ssh.command(name, ["true"])
    asking[1:1] = ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]
    code, errors = _try(asking)
    accepted = code == 0
    return Step(
        name,
        problem.seen if accepted else f"{problem.seen}, and {name} does not accept your key",
        (*_trust(name, ssh), *(() if accepted else _copy_key(name, key, ssh))),
    )


def _trust(name: str, ssh: Ssh) -> tuple[str, ...]:
    """How to learn the host key, with the fingerprint that the host shows now."""
    port = ["-p", str(ssh.port)] if ssh.port is not None else []
    scanned = _run("ssh-keyscan", "-T", str(CONNECT_TIMEOUT_S), "-t", "ed25519", *port, name).stdout
    shown = _run("ssh-keygen", "-l", "-f", "-", stdin=scanned).stdout.split()
    fingerprint = next((word for word in shown if word.startswith("SHA256:")), "not shown")
    scan = " ".join(["ssh-keyscan", "-H", *port, name])
    return (
        f"on {name}: ssh-keygen -l -f /etc/ssh/ssh_host_ed25519_key.pub  has to print {fingerprint}",
        f"then here: {scan} >> ~/.ssh/known_hosts",
    )


def _copy_key(name: str, key: Path, ssh: Ssh) -> tuple[str, ...]:
    port = ["-p", str(ssh.port)] if ssh.port is not None else []
    copy = shlex.join(["ssh-copy-id", "-i", f"{key}.pub", *port, name])
    try:
        public = Path(f"{key}.pub").read_text(encoding="utf-8").strip()
    except OSError:
        return (f"ssh-keygen -y -f {word(key)} > {word(f'{key}.pub')}", copy)
    return (
        f"here, with the password: {copy}",
        f"or on {name}, as a line of ~/.ssh/authorized_keys: {public}",
    )


def _try(command: list[str]) -> tuple[int | None, str]:
    try:
        done = _run(*command, timeout=3 * CONNECT_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stderr


def _run(*command: str, stdin: str = "", timeout: float | None = None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, input=stdin, capture_output=True, text=True, timeout=timeout, check=False
        )
    except FileNotFoundError:
        raise SshMissingError(
            f"{command[0]} is not installed",
            "ranks on other hosts are started by ssh",
            "apt-get install openssh-client",
        ) from None
