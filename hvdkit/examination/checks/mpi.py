"""MPI: one of them, the same everywhere, and whether it can send GPU memory."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hvdkit.examination.check import Check, Request, differing
from hvdkit.examination.finding import Finding, error, ok, warning

_CUDA = "mpi_built_with_cuda_support:value:"


def gather(request: Request) -> dict[str, Any]:
    """Version line of mpirun (None: there is none), all mpirun on PATH, CUDA support (None: not known)."""
    version = _output("mpirun", "--version")
    info = _output("ompi_info", "--parsable", "--all") or ""
    cuda = [line.rpartition(":")[2] for line in info.splitlines() if _CUDA in line]
    return {
        "version": version.splitlines()[0] if version else None,
        "paths": _on_path("mpirun"),
        "cuda": cuda[0] == "true" if cuda else None,
    }


def judge(fact: dict[str, Any], request: Request) -> Iterator[Finding]:
    """None is fine: Gloo needs no MPI. Two are not."""
    if len(fact["paths"]) > 1:
        yield warning(
            f"several mpirun on PATH: {', '.join(fact['paths'])}",
            "Horovod is linked to one MPI; when a different one starts it, every rank is rank 0 of 1",
            "keep only one of them on PATH, the one that `mpicxx -show` names",
        )
    elif fact["version"]:
        cuda = {True: "sends GPU memory", False: "without CUDA support", None: "CUDA support unknown"}
        yield ok(f"{fact['version']}, {cuda[fact['cuda']]}")


def compare(facts: Mapping[str, dict[str, Any]], requests: Mapping[str, Request]) -> Iterator[Finding]:
    """One version everywhere."""
    different = differing({host: fact["version"] for host, fact in facts.items()})
    if different:
        yield error(
            f"different MPI: {different}",
            "mpirun and its daemons on the other hosts must be the same release",
            "install the same release on every host, or use hvdkit run --gloo",
        )


def _output(*command: str) -> str | None:
    if shutil.which(command[0]) is None:
        return None
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    return done.stdout if done.returncode == 0 else None


def _on_path(program: str) -> list[str]:
    """Different files of that name on PATH; links to one file count once."""
    found: dict[Path, str] = {}
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        file = Path(folder or ".", program)
        if file.is_file() and os.access(file, os.X_OK):
            found.setdefault(file.resolve(), str(file))
    return list(found.values())


CHECK = Check("mpi", "MPI", gather, judge=judge, compare=compare)
