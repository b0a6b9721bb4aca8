"""What an earlier job left: ranks whose launcher is gone, and its variables in this shell."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hvdkit.examination.check import Check, Request
from hvdkit.examination.finding import Finding, ok, warning

_ADDRESS, _PORT = "HOROVOD_GLOO_RENDEZVOUS_ADDR", "HOROVOD_GLOO_RENDEZVOUS_PORT"
_RANK = ("HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK", _ADDRESS, _PORT)


def gather(request: Request) -> dict[str, Any]:
    """Processes that hang in a rendezvous nobody serves, and variables of a rank set here."""
    here = [name for name in _RANK if name in os.environ]
    return {"processes": sorted(_orphans()), "variables": here}


def _orphans() -> Iterator[int]:
    """Ranks of this user and this network namespace with no parent and no rendezvous server left."""
    network = Path("/proc/self/ns/net").readlink()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environ = dict(
                part.split("=", 1)
                for part in (entry / "environ").read_text(errors="replace").split("\0")
                if "=" in part
            )
            if _ADDRESS not in environ or _PORT not in environ:
                continue
            parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
            if parent == "1" and (entry / "ns/net").readlink() == network and not _answers(environ):
                yield int(entry.name)
        except OSError:
            continue  # another user's, or gone since it was listed


def _answers(environ: dict[str, str]) -> bool:
    try:
        with socket.create_connection((environ[_ADDRESS], int(environ[_PORT])), timeout=1.0):
            return True
    except (OSError, ValueError):
        return False


def judge(fact: dict[str, Any], request: Request) -> Iterator[Finding]:
    """Nothing is left."""
    if fact["processes"]:
        numbers = " ".join(map(str, fact["processes"]))
        yield warning(
            f"ranks of an ended job are still running: {numbers}",
            "they hold GPUs, ports and memory, and write to the same files as the next job",
            f"kill {numbers}",
        )
    if fact["variables"]:
        yield warning(
            f"set in this shell: {', '.join(fact['variables'])}",
            "a script started from it assumes that it is a rank of a job that has ended",
            f"unset {' '.join(fact['variables'])}",
        )
    if not fact["processes"] and not fact["variables"]:
        yield ok("nothing is left of earlier jobs")


CHECK = Check("leftovers", "stale rendezvous", gather, judge=judge)
