"""Passwordless ssh from each host to each other one."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from hvdkit.examination.check import Check, Request
from hvdkit.examination.finding import Finding, ok, warning
from hvdkit.hosts.ssh import CONNECT_TIMEOUT_S, refusal

_OPTIONS = ["-o", "BatchMode=yes", "-o", f"ConnectTimeout={CONNECT_TIMEOUT_S}"]


def gather(request: Request) -> dict[str, dict[str, str]]:
    """What stands in the way to each peer; empty where nothing does."""
    peers = _asked(request)
    if not peers:
        return {}
    with ThreadPoolExecutor(len(peers)) as pool:
        answers = dict(zip(peers, pool.map(lambda peer: _try(peer, request.ssh), peers)))
    return {peer: answer for peer, answer in answers.items() if answer}


def _asked(request: Request) -> list[str]:
    return [peer for peer, target in request.peers.items() if target.has_ssh]


def _try(peer: str, options: tuple[str, ...]) -> dict[str, str]:
    command = ["ssh", *_OPTIONS, *options, "--", peer, "true"]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=3 * CONNECT_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError:
        return {
            "seen": "there is no ssh program",
            "why": "ranks on other hosts are started by ssh",
            "fix": "apt-get install openssh-client",
        }
    except subprocess.TimeoutExpired:
        return refusal(peer, None, "").__dict__
    return {} if done.returncode == 0 else refusal(peer, done.returncode, done.stderr).__dict__


def judge(problems: dict[str, dict[str, str]], request: Request) -> Iterator[Finding]:
    """From the machine where the doctor was called ssh is known to work by now, or the host is not here."""
    for problem in problems.values():
        yield warning(
            f"from {request.host}: {problem['seen']}",
            f"{problem['why']}; mpirun starts the ranks of larger jobs host by host",
            f"on {request.host}: {problem['fix']}",
        )
    if _asked(request) and not problems:
        yield ok(f"reaches {', '.join(_asked(request))} by ssh")


CHECK = Check("ssh", "passwordless ssh between the hosts", gather, judge=judge, timeout_s=20.0)
