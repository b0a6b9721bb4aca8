"""GPUs: as many as ranks on this host, and a framework that can use them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hvdkit.examination.check import Check, Request
from hvdkit.examination.checks.horovod import FRAMEWORKS
from hvdkit.examination.finding import Finding, error, ok, warning


def judge(fact: dict[str, Any], request: Request) -> Iterator[Finding]:
    """No GPU is fine; one that cannot be used, or fewer than ranks, is not."""
    able = [fact[name] for name in FRAMEWORKS if fact[name] and fact[name].get("cuda")]
    seen = max((framework["gpus"] for framework in able), default=0)
    if not fact["driver_gpus"]:
        yield ok("no NVIDIA GPU")
    elif not able:
        yield warning(
            f"{fact['driver_gpus']} GPUs, and no framework built for CUDA",
            "training runs on the CPU",
            "install its CUDA build, then hvdkit install-horovod",
        )
    elif seen < request.slots:
        yield error(
            f"{request.slots} ranks on {seen} GPUs",
            "NCCL refuses two ranks on one GPU",
            f"-H {request.host or 'localhost'}:{seen}, or a longer CUDA_VISIBLE_DEVICES",
        )
    else:
        yield ok(f"{seen} GPUs for {request.slots} ranks")


CHECK = Check("gpus", "GPUs against slots", fact="horovod", judge=judge)
