"""Shared memory: DataLoader workers, Open MPI and NCCL put what they hand on into /dev/shm."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from hvdkit.examination.check import Check, Request
from hvdkit.examination.finding import Finding, error, ok

FOLDER = Path("/dev/shm")
# What Docker gives a container that asks for nothing; workers die in it with "Bus error".
TOO_SMALL = 64 * 2**20


def gather(request: Request) -> dict[str, int] | None:
    """Size and free bytes; None without /dev/shm."""
    if not FOLDER.is_dir():
        return None
    numbers = os.statvfs(FOLDER)
    return {"size": numbers.f_blocks * numbers.f_frsize, "free": numbers.f_bavail * numbers.f_frsize}


def judge(fact: dict[str, int] | None, request: Request) -> Iterator[Finding]:
    """More than what is known to be too little."""
    why = "DataLoader workers, Open MPI and NCCL fail with `Bus error` when it is full"
    if fact is None:
        yield error("there is no /dev/shm", why, "mount -t tmpfs tmpfs /dev/shm")
    elif fact["size"] <= TOO_SMALL:
        yield error(
            f"/dev/shm has {fact['size'] >> 20} MiB",
            why,
            "mount -o remount,size=8G /dev/shm; a container: --shm-size=8g or --ipc=host",
        )
    elif fact["free"] <= TOO_SMALL:
        yield error(
            f"/dev/shm has {fact['free'] >> 20} of {fact['size'] >> 20} MiB left",
            why,
            "ls -l /dev/shm shows what fills it; files of ended jobs can be removed",
        )
    else:
        yield ok(f"/dev/shm: {fact['free'] >> 20} MiB free")


CHECK = Check("shm", "shared memory", gather, judge=judge)
