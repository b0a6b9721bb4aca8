"""Which controllers and tensor operations Horovod was built with: MPI, Gloo, NCCL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hvdkit.examination.check import Check, Request, differing
from hvdkit.examination.checks.horovod import FRAMEWORKS
from hvdkit.examination.finding import Finding, error, ok, warning

_TITLES = {"mpi": "MPI", "gloo": "Gloo", "nccl": "NCCL"}


def built(fact: Mapping[str, Any]) -> tuple[str, ...]:
    """What every loaded extension has, of mpi, gloo and nccl."""
    loaded = [
        fact[name]["horovod"]
        for name in FRAMEWORKS
        if fact[name] and "error" not in fact[name] and "error" not in fact[name]["horovod"]
    ]
    return tuple(part for part in _TITLES if loaded and all(extension[part] for extension in loaded))


def judge(fact: dict[str, Any], request: Request) -> Iterator[Finding]:
    """A controller is there; with GPUs, NCCL too."""
    parts = built(fact)
    if not parts:
        return  # nothing loads: the check of Horovod itself says so
    if not {"mpi", "gloo"} & set(parts):
        yield error(
            "Horovod has neither MPI nor Gloo",
            "ranks have no way to connect",
            "hvdkit install-horovod --rebuild",
        )
    gpus = max(((fact[name] or {}).get("gpus", 0) for name in FRAMEWORKS), default=0)
    if gpus and "nccl" not in parts:
        yield warning(
            f"{gpus} GPUs, and Horovod was built without NCCL",
            "every gradient would pass through the CPU",
            "HOROVOD_GPU_OPERATIONS=NCCL hvdkit install-horovod --rebuild",
        )
    else:
        yield ok(f"Horovod with {', '.join(_TITLES[part] for part in parts)}")


def compare(facts: Mapping[str, dict[str, Any]], requests: Mapping[str, Request]) -> Iterator[Finding]:
    """The same on all hosts."""
    different = differing(
        {host: "+".join(_TITLES[part] for part in built(fact)) for host, fact in facts.items()}
    )
    if different:
        yield error(
            f"Horovod was built differently: {different}",
            "ranks would choose different reductions, and block",
            "on every host: hvdkit install-horovod --rebuild",
        )


CHECK = Check("operations", "controllers and operations", fact="horovod", judge=judge, compare=compare)
