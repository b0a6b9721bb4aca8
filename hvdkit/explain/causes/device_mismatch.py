"""One rank reduces on its GPU, another one on its CPU."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="device_mismatch",
    title="one rank has a tensor on its GPU, and another one has it on its CPU",
    why=(
        "A rank sees no GPU (CUDA_VISIBLE_DEVICES, a driver or a framework without CUDA on its host), and "
        "computes on the CPU there."
    ),
    fix="`nvidia-smi` on each host, and the same framework with CUDA in the environment of each",
    find=says(r"Mismatched \w+ CPU/GPU device selection"),
    excerpt="",
    on_gpu=True,
)
