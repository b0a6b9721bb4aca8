"""The framework has no code for this GPU."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="gpu_architecture",
    title="there is no code for this GPU in what was built{where}: {said}",
    why=(
        "PyTorch, or Horovod's own kernels, were compiled for other GPUs than this host has: older or "
        "newer ones."
    ),
    fix=(
        "a PyTorch that is built for this GPU (torch.cuda.get_arch_list() lists them), then "
        "HOROVOD_BUILD_CUDA_CC_LIST=CC hvdkit install-horovod --rebuild"
    ),
    find=says(
        r"(?P<said>no kernel image is available for execution on the device)",
        r"(?P<said>invalid device function)",
        r"(?P<said>the provided PTX was compiled with an unsupported toolchain)",
        in_job=True,
    ),
    excerpt="""\
RuntimeError: CUDA error: no kernel image is available for execution on the device
""",
    on_gpu=True,
    general={"said": "no kernel image"},
    source="https://github.com/horovod/horovod/issues/1171",
)
