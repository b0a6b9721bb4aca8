"""Horovod's build for AMD GPUs and the installed ROCm do not fit."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="build_rocm",
    title="Horovod's build for ROCm failed: {said}",
    why=(
        "Horovod 0.28.1 was written for ROCm 5: it takes hip_add_library from ROCm's CMake modules, "
        "and its HIP sources are generated during the build from the CUDA ones. A different ROCm, or "
        "a Horovod before 0.25, lacks one of them."
    ),
    fix=(
        "HOROVOD_GPU=ROCM HOROVOD_ROCM_HOME=/opt/rocm CMAKE_MODULE_PATH=/opt/rocm/lib/cmake/hip pip "
        "install --no-build-isolation --no-cache-dir horovod==0.28.1, in an image with ROCm 5; "
        "hvdkit install-horovod does not build for ROCm"
    ),
    find=says(
        r"CMake Error[^\n]*\n\s*(?P<said>Unknown CMake command .hip_\w+.)",
        r"CMake Error[^\n]*\n\s*Cannot find source file:\s+\S*/(?P<said>hip_\w+\.(?:cc|cu|h))",
        in_job=True,
    ),
    excerpt="""\
      CMake Error at horovod/common/ops/rocm/CMakeLists.txt:21 (hip_add_library):
""",
    general={"said": "a part of ROCm is missing"},
    source="https://github.com/ROCm/legacy-rocm-build/issues/3987",
)
