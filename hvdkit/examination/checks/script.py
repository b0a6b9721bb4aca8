"""The training script: there, and the same file content on every host."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from hvdkit.examination.check import Check, Request, differing
from hvdkit.examination.finding import Finding, error, ok
from hvdkit.shell import word


def gather(request: Request) -> str | None:
    """SHA-256 of the script; None where it is not there; "" where no script was named."""
    if not request.script:
        return ""
    file = Path(request.script)
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None


def judge(digest: str | None, request: Request) -> Iterator[Finding]:
    """It is there."""
    if digest is None and not Path(request.script).is_file():  # not here either, where the doctor is asked
        yield error(
            f"{request.script} does not exist",
            "every rank runs it in the folder that the job is started from",
            f"name a file in {Path.cwd()}, or change to its folder",
        )
    elif digest is None:
        yield error(
            f"{request.script} does not exist",
            "every host starts its ranks from its own copy, in the same folder",
            f"copy it: rsync -a ./ {request.host or 'HOST'}:{word(Path.cwd())}/",
        )
    elif digest:
        yield ok(f"{request.script}, SHA-256 {digest[:12]}")


def compare(facts: Mapping[str, str | None], requests: Mapping[str, Request]) -> Iterator[Finding]:
    """One content."""
    digests = {host: digest for host, digest in facts.items() if digest}
    if differing(digests):
        short = ", ".join(f"{host} {digest[:12]}" for host, digest in digests.items())
        script = next(iter(requests.values())).script
        hosts = [host for host in digests if digests[host] != next(iter(digests.values()))]
        yield error(
            f"{script} differs between the hosts: {short}",
            "ranks that run different code block, or silently train different models",
            " && ".join(f"rsync -a ./ {host}:{word(Path.cwd())}/" for host in hosts),
        )


CHECK = Check("script", "the training script", gather, judge=judge, compare=compare)
