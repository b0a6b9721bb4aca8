"""Clocks of the hosts against this machine's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hvdkit.examination.check import Check, Request
from hvdkit.examination.finding import Finding, ok, warning

ALLOWED_S = 2.0


def gather(request: Request) -> dict[str, float] | None:
    """Nothing on the host: who asks measures the offset while talking with it (session.py)."""
    return None


def judge(fact: dict[str, Any] | None, request: Request) -> Iterator[Finding]:
    """Near enough for logs, file times and certificates."""
    if fact is None:
        return
    if abs(fact["offset_s"]) - fact["within_s"] > ALLOWED_S:
        way = "ahead of" if fact["offset_s"] > 0 else "behind"
        yield warning(
            f"the clock of {request.host} is {abs(fact['offset_s']):.0f} s {way} this machine's",
            "logs cannot be ordered, newer checkpoints look older, certificates are not valid yet",
            f"on {request.host}: timedatectl set-ntp true",
        )
    else:
        yield ok(f"clock within {ALLOWED_S:g} s")


CHECK = Check("clocks", "clocks", gather, judge=judge)
