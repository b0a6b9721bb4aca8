"""A GPU failed."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="gpu_broken",
    title="a GPU failed{where}: {said}",
    why=(
        "That is the hardware, its driver or its power, not the program: a memory error that cannot be "
        "corrected, or a GPU that no longer answers."
    ),
    fix=(
        "nvidia-smi -q -d ECC and dmesg | grep -i xid on that host; take the host out of the job, and "
        "reset or reboot it"
    ),
    find=says(
        r"(?P<said>uncorrectable (?:NVLink |ECC )+error encountered)",
        r"(?P<said>GPU has fallen off the bus)",
        r"(?P<said>NVRM: Xid [^:\n]*: (?:48|62|63|64|74|79|92|94|95|119)\b)",
        r"(?P<said>Unable to determine the device handle for GPU[^\n]*)",
        in_job=True,
    ),
    excerpt="""\
RuntimeError: CUDA error: uncorrectable ECC error encountered
""",
    on_gpu=True,
    general={"said": "MESSAGE"},
    source="https://github.com/NVIDIA/semantic-segmentation/issues/33",
)
