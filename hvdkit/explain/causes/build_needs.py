"""Horovod's build does not find what it was asked to use."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="build_needs",
    title="Horovod's build does not find {name}",
    why=(
        "A HOROVOD_ variable requests it, or the build finds only a part: the library without its headers, "
        "or those of a different version."
    ),
    fix=(
        "install it with its headers (apt-get install libopenmpi-dev for MPI, libnccl-dev for NCCL, the "
        "CUDA toolkit for nvcc) or name its folder: HOROVOD_NCCL_HOME, HOROVOD_CUDA_HOME; then hvdkit "
        "install-horovod"
    ),
    find=says(
        r"CMake Error[^\n]*\n\s*(?:Could NOT|Could not) find (?P<name>MPI\w*|NCCL|CUDA\w*|Gloo)\b",
        r"fatal error: (?P<name>(?:nccl|mpi|cuda_runtime|cuda)\.h): No such file",
        r"CMake Error[^\n]*\n\s*(?P<name>CUDA_TOOLKIT_ROOT_DIR) not found or specified",
        r"No (?P<name>CMAKE_CUDA_COMPILER) could be found",
        r"error: .(?P<name>nccl\w+). was not declared in this scope",
        in_job=True,
    ),
    excerpt="""\
      CMake Error at /usr/share/cmake/Modules/FindPackageHandleStandardArgs.cmake:137 (message):
""",
    general={"name": "MPI, NCCL or CUDA"},
    source="https://github.com/horovod/horovod/issues/3315",
)
