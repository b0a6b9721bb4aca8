"""ssh to a host without a question asked, and what its refusals mean."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CONNECT_TIMEOUT_S = 5


@dataclass(frozen=True)
class Ssh:
    """How the hosts are reached: horovodrun's --ssh-port and --ssh-identity-file."""

    port: int | None = None
    identity: Path | None = None

    @property
    def options(self) -> list[str]:
        """Options for ssh and horovodrun alike: -p and -i."""
        port = ["-p", str(self.port)] if self.port is not None else []
        return port + (["-i", str(self.identity)] if self.identity is not None else [])

    def command(self, host: str, remote: Sequence[str]) -> list[str]:
        """The command line that runs `remote` on `host`: never a prompt, and an end if nobody answers."""
        batch = ["-o", "BatchMode=yes", "-o", f"ConnectTimeout={CONNECT_TIMEOUT_S}"]
        return ["ssh", *batch, *self.options, "--", host, shlex.join(remote)]


@dataclass(frozen=True)
class Refusal:
    """Why ssh to a host did not work, in the words of an error."""

    seen: str
    why: str
    fix: str


# What ssh prints, why it matters, what to type. `{host}` is the host.
_REASONS = (
    (
        "REMOTE HOST IDENTIFICATION HAS CHANGED",
        "the host key of {host} changed",
        "the host was reinstalled, or a different machine answers to its name",
        "if you know why it changed: ssh-keygen -R {host} && ssh-keyscan -H {host} >> ~/.ssh/known_hosts",
    ),
    (
        "Host key verification failed",
        "the host key of {host} is not known here",
        "ssh would ask whether to trust it, and a job cannot answer",
        "hvdkit setup-ssh -H {host}",
    ),
    (
        "Permission denied",
        "{host} does not accept your key",
        "every rank on a remote host is started by ssh, without a password",
        "hvdkit setup-ssh -H {host}",
    ),
    (
        "Could not resolve hostname",
        "the name {host} does not resolve here",
        "a job reaches its hosts by name",
        "add `ADDRESS {host}` to /etc/hosts on every host, or use the address instead of the name",
    ),
    (
        "Connection refused",
        "no sshd answers on {host}",
        "every rank on a remote host is started by ssh",
        "on {host}: systemctl start ssh; for a different port: --ssh-port",
    ),
    (
        "timed out",
        "{host} does not answer to ssh",
        "it is down, unreachable, or a firewall drops the port",
        "ping {host}; on {host}: systemctl status ssh, and let port 22 through its firewall",
    ),
    (
        "No route to host",
        "there is no route to {host}",
        "it is down or on a different network",
        "ip route get {host}",
    ),
)


def refusal(host: str, code: int | None, stderr: str) -> Refusal:
    """What an attempt that ended with `code` (None: it had to be ended) and printed `stderr` means."""
    text = "timed out" if code is None else stderr
    for marker, seen, why, fix in _REASONS:
        if marker.lower() in text.lower():
            return Refusal(seen.format(host=host), why, fix.format(host=host))
    last = (stderr.strip() or f"exit code {code}").splitlines()[-1]
    return Refusal(
        f"ssh to {host} failed: {last}",
        "every rank on a remote host is started by ssh",
        f"ssh -v -o BatchMode=yes {host} true",
    )
