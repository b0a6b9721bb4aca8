"""nvcc does not know a GPU architecture that Horovod is built for."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="build_architecture",
    title="nvcc of the installed CUDA does not support {said}",
    why=(
        "Each CUDA release drops old GPU architectures and adds new ones. The build requests one "
        "that this nvcc does not know."
    ),
    fix=(
        "list the architectures of your GPUs: HOROVOD_BUILD_CUDA_CC_LIST=80,90 hvdkit "
        "install-horovod; nvidia-smi --query-gpu=compute_cap --format=csv shows them; for a GPU "
        "newer than nvcc, install a newer CUDA toolkit"
    ),
    find=says(
        r"nvcc fatal +: Unsupported gpu architecture '(?P<said>compute_\w+)'",
        in_job=True,
    ),
    excerpt="""\
nvcc fatal   : Unsupported gpu architecture 'compute_30'
""",
    general={"said": "a GPU architecture"},
    source="https://github.com/horovod/horovod/issues/3922",
)
