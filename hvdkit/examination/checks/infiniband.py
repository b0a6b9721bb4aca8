"""InfiniBand and RoCE: what is there, and whether NCCL is allowed to use it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hvdkit.examination.check import Check, Request, differing
from hvdkit.examination.finding import Finding, note, ok, warning

_DEVICES = Path("/sys/class/infiniband")


def gather(request: Request) -> dict[str, Any]:
    """Devices with an active port, those without, and NCCL_IB_DISABLE."""
    active: list[str] = []
    idle: list[str] = []
    for device in sorted(_DEVICES.iterdir()) if _DEVICES.is_dir() else ():
        states = [file.read_text(encoding="ascii") for file in device.glob("ports/*/state")]
        (active if any("ACTIVE" in state for state in states) else idle).append(device.name)
    return {"active": active, "idle": idle, "disabled": os.environ.get("NCCL_IB_DISABLE", "0") == "1"}


def judge(fact: dict[str, Any], request: Request) -> Iterator[Finding]:
    """Active and allowed, or not there."""
    if fact["active"] and fact["disabled"]:
        yield warning(
            f"{', '.join(fact['active'])} is active, and NCCL_IB_DISABLE=1",
            "NCCL uses TCP instead, many times slower",
            "unset NCCL_IB_DISABLE",
        )
    elif fact["active"]:
        yield ok(f"InfiniBand: {', '.join(fact['active'])}")
    elif fact["idle"]:
        yield note(
            f"InfiniBand devices without an active port: {', '.join(fact['idle'])}",
            "NCCL may try them first",
            "export NCCL_IB_DISABLE=1 while they are not cabled",
        )
    else:
        yield ok("no InfiniBand")


def compare(facts: Mapping[str, dict[str, Any]], requests: Mapping[str, Request]) -> Iterator[Finding]:
    """All hosts or none."""
    different = differing({host: "InfiniBand" if fact["active"] else None for host, fact in facts.items()})
    if different:
        yield warning(
            f"not every host has InfiniBand: {different}",
            "NCCL stops with `unhandled system error` where one side uses it and the other cannot",
            "export NCCL_IB_DISABLE=1, or fix it on the others",
        )


CHECK = Check("infiniband", "InfiniBand", gather, judge=judge, compare=compare)
