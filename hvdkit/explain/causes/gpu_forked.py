"""CUDA was used before a process was forked."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="gpu_forked",
    title="a worker process was forked after CUDA had been used{where}",
    why=(
        "CUDA does not live on in a process that is forked: a DataLoader's worker touches the GPU, as "
        "when the data set holds CUDA tensors."
    ),
    fix=(
        "keep the data set on the CPU and move batches in the training loop; or "
        "multiprocessing_context='spawn' in the DataLoader, with an `if __name__ == '__main__':`"
    ),
    find=says(
        r"Cannot re-initialize CUDA in forked subprocess",
        in_job=True,
    ),
    excerpt="""\
RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing,  ...
""",
    on_gpu=True,
    source="https://github.com/pytorch/pytorch/issues/40403",
)
