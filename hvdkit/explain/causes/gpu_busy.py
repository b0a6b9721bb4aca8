"""A GPU that takes one process only has one."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="gpu_busy",
    title="the GPU is taken{where}: {said}",
    why="Several ranks use one GPU that is in exclusive mode, or another job has it.",
    fix=(
        "torch.cuda.set_device(hvd.local_rank()) right after hvd.init(); no more ranks on a host than "
        "GPUs; `nvidia-smi` shows who has it"
    ),
    find=says(
        r"(?P<said>all CUDA-capable devices are busy or unavailable)",
        r"(?P<said>CUDA_ERROR_DEVICE_UNAVAILABLE|CUDA-capable device\(s\) is/are busy or unavailable)",
        in_job=True,
    ),
    excerpt="""\
RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable
""",
    on_gpu=True,
    general={"said": "busy"},
    source="https://github.com/huggingface/pytorch-image-models/issues/1033",
)
