"""A disk is full."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="disk_full",
    title="a disk is full, or its quota used up{where}",
    why=(
        "A checkpoint, a cache or Open MPI's files in /tmp could not be written; ranks that write the "
        "same file at once each take the room."
    ),
    fix=("df -h and quota on that host; write checkpoints on rank 0 alone; TMPDIR to a folder with room"),
    find=says(
        r"^(?!.*(?:/dev/shm|psm_|torch_|NCCL)).*(?:No space left on device|Disk quota exceeded)",
        in_job=True,
    ),
    excerpt="""\
OSError: [Errno 28] No space left on device: '/scratch/checkpoint-3.pt'
""",
    level=Level.OWN,
    source="https://github.com/mozilla/DeepSpeech/issues/374",
)
