"""Threads of all ranks of a host against its cores."""

from __future__ import annotations

import os
from collections.abc import Iterator

from hvdkit.examination.check import Check, Request
from hvdkit.examination.finding import Finding, ok, warning


def gather(request: Request) -> dict[str, int]:
    """Cores that this process may use, and OMP_NUM_THREADS (0: not set)."""
    first = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return {"cores": len(os.sched_getaffinity(0)), "threads": int(first) if first.isdecimal() else 0}


def judge(fact: dict[str, int], request: Request) -> Iterator[Finding]:
    """Not more threads than cores, counted over all ranks."""
    cores, threads = fact["cores"], fact["threads"]
    wanted = request.slots * (threads or cores)
    best = max(1, cores // max(1, request.slots))
    if request.slots > 1 and wanted > cores and threads != best:
        said = f"OMP_NUM_THREADS={threads}" if threads else "OMP_NUM_THREADS is not set"
        yield warning(
            f"{said}: {request.slots} ranks start {wanted} threads on {cores} cores",
            "threads that compete for the cores slow every rank down",
            f"export OMP_NUM_THREADS={best}",
        )
    else:
        yield ok(f"{request.slots} ranks, {threads or cores} threads each, {cores} cores")


CHECK = Check("threads", "OMP threads", gather, judge=judge)
