"""What `hvdkit docker` tells: what it found, what it wrote, what is left, what to type next."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hvdkit.console import show_line
from hvdkit.docker.job import Job
from hvdkit.docker.requirements import Requirements
from hvdkit.docker.script import Script
from hvdkit.migrate.report.text import show_finding
from hvdkit.printable import one_line


@dataclass(frozen=True)
class Outcome:
    """One run. written: files that are new or changed; kept: files that were as they should be already.

    left_out: what was asked for and not written, with the reason.
    """

    script: Script
    job: Job
    requirements: Requirements
    written: tuple[Path, ...]
    kept: tuple[Path, ...]
    left_out: tuple[str, ...] = ()


def as_json(outcome: Outcome) -> dict[str, Any]:
    """The run for --json."""
    script, job, needed = outcome.script, outcome.job, outcome.requirements
    return {
        "script": str(script.path),
        "horovod": list(script.modules),
        "command": list(job.command),
        "name": job.name,
        "image": job.image,
        "base": job.base,
        "num_proc": job.ranks,
        "containers": job.containers,
        "requirements": {
            "source": needed.source,
            "lines": list(needed.lines),
            "changed": [{"written": line, "instead": instead} for line, instead in needed.changed],
            "unknown": [
                {"path": str(path), "line": line, "module": module} for path, line, module in needed.unknown
            ],
            "secrets": [
                {"variable": secret.variable, "path": str(secret.path), "line": secret.line}
                for secret in needed.secrets
            ],
        },
        "withheld": list(job.withheld),
        "magics": [{"cell": cell, "text": text} for cell, text in script.magics],
        "findings": [finding.as_json() for finding in script.findings],
        "written": [str(path) for path in outcome.written],
        "unchanged": [str(path) for path in outcome.kept],
        "left_out": list(outcome.left_out),
    }


def show(outcome: Outcome) -> None:
    """Print the run for a person."""

    def say(text: str, style: str = "") -> None:
        show_line((text, style))

    script, job, needed = outcome.script, outcome.job, outcome.requirements
    say(f"{_here(script.path)}: starts {', '.join(script.modules)}; each rank runs {shlex.join(job.command)}")
    for finding in script.findings:
        show_finding(finding)
    for cell, text in script.magics:
        say(f"cell {cell}: {text!r} is left out: a rank is plain Python", "yellow")
    say(f"requirements from {needed.source}: {', '.join(needed.lines) or 'none besides the image'}")
    for written, instead in needed.changed:
        say(f"    {written}: {instead}")
    for secret in needed.secrets:
        what = "a password or token in an address" if secret.written else f"${{{secret.variable}}}"
        where = f"{_here(secret.path)}:{secret.line}"
        say(f"{where}: {what}: no layer contains it, the build gets it as a secret")
    for name in job.withheld:
        say(f"{name}: stays out of the image because it contains credentials", "yellow")
    for path, line, module in needed.unknown:
        say(f"{_here(path)}:{line}: import {module}: no distribution is known for it", "yellow")
    if needed.unknown:
        say("    write requirements.txt with everything that the project needs, and run this again")
    for what in outcome.left_out:
        say(what, "yellow")
    if outcome.kept:
        say(f"already up to date: {', '.join(map(_here, outcome.kept))}")
    if outcome.written:
        say(f"wrote {', '.join(map(_here, outcome.written))}")
    file = "" if job.folder == job.context else f" -f {shlex.quote(job.in_context('compose.yaml'))}"
    say("next:")
    for secret in needed.secrets:
        of = (
            f"its part of {_here(secret.path)}:{secret.line}, as written there"
            if secret.written
            else "its value"
        )
        say(f"  export {secret.variable}=...    ({of})")
    say(f"  {job.build_base}    (in a checkout of hvdkit, once)")
    say(f"  docker compose{file} up --build --exit-code-from launcher")


def _here(path: Path) -> str:
    return one_line(os.path.relpath(path))
