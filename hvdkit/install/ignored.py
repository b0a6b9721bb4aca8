"""Horovod's build variables that are set here and are not followed, each with the reason.

Those of a job (HOROVOD_FUSION_THRESHOLD, HOROVOD_RANK) are none of the build's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hvdkit import horovod_variables
from hvdkit.install.cuda import Cuda

_INSTALLED = "Horovod is built for exactly the frameworks that are installed here"
_NO_CUDA = "no framework here computes with CUDA, or there is no CUDA toolkit: Horovod is built for the CPU"
_NCCL = "all GPU operations use NCCL, the fastest, and are tested with it"
_NVTX = "NVTX is built in where the CUDA toolkit holds it"
_ONE_NCCL = "HOROVOD_NCCL_HOME names NCCL, one folder with include and lib"
# Of those that only a GPU build reads.
_GPU = {
    **{
        f"HOROVOD_GPU_{operation}": _NCCL
        for operation in ("ALLGATHER", "ALLREDUCE", "ALLTOALL", "BROADCAST", "OPERATIONS", "REDUCESCATTER")
    },
    "HOROVOD_ALLOW_MIXED_GPU_IMPL": _NCCL,
    "HOROVOD_CUDA_HOME": "there is no bin/nvcc in it",
    "HOROVOD_NCCL_HOME": "there is no include/nccl.h in it",
    "HOROVOD_NCCL_INCLUDE": _ONE_NCCL,
    "HOROVOD_NCCL_LIB": _ONE_NCCL,
    "HOROVOD_NCCL_LINK": "the framework has NCCL as a shared library, and one process must not load two",
    "HOROVOD_NVTX_INCLUDE": _NVTX,
    "HOROVOD_WITHOUT_NVTX": _NVTX,
    "HOROVOD_WITH_NVTX": _NVTX,
}
_REASONS = {
    "HOROVOD_DEBUG": "the build is optimized, and only that is cached",
    "HOROVOD_GPU": "hvdkit builds GPU operations for CUDA, and detects CUDA itself",
    "HOROVOD_LOCAL_VERSION": "the wheel keeps the released version, by which `--check` identifies it",
    "HOROVOD_ROCM_HOME": "hvdkit builds GPU operations only for CUDA",
    "HOROVOD_SKIP_COMPILE": "a Horovod without compiled extensions cannot train",
    "HOROVOD_WITHOUT_GLOO": "Gloo is always built: `hvdkit run` uses it where there is no MPI",
    "HOROVOD_WITHOUT_MPI": "only the value 1 excludes MPI",
    "HOROVOD_WITHOUT_MXNET": "MXNet is never built",
    "HOROVOD_WITHOUT_PYTORCH": _INSTALLED,
    "HOROVOD_WITHOUT_TENSORFLOW": _INSTALLED,
    "HOROVOD_WITH_GLOO": "Gloo is always built",
    "HOROVOD_WITH_MPI": "MPI is built in unless HOROVOD_WITHOUT_MPI=1 excludes it",
    "HOROVOD_WITH_MXNET": "hvdkit builds Horovod for PyTorch and TensorFlow",
    "HOROVOD_WITH_PYTORCH": _INSTALLED,
    "HOROVOD_WITH_TENSORFLOW": _INSTALLED,
}


# Those that are followed, besides the ones above.
_FOLLOWED = ("BUILD_ARCH_FLAGS", "BUILD_CUDA_CC_LIST", "CMAKE", "CPU_OPERATIONS")
BUILD = frozenset((*_GPU, *_REASONS, *(f"HOROVOD_{name}" for name in _FOLLOWED)))


def ignored(environment: Mapping[str, str], chosen: Mapping[str, str], gpu: Cuda | None) -> dict[str, str]:
    """`NAME=value` to reason. chosen: the variables of the build; gpu: its CUDA."""
    followed = dict(chosen)
    if gpu:
        followed.update(HOROVOD_CUDA_HOME=str(gpu.home), HOROVOD_NCCL_HOME=str(gpu.nccl))
    reasons = {**_REASONS, **(_GPU if gpu else dict.fromkeys(_GPU, _NO_CUDA))}
    passed_over = {
        f"{name}={value}": reasons[name]
        for name in sorted(reasons)
        if (value := environment.get(name)) and not _same(value, followed.get(name))
    }
    unknown = horovod_variables.unknown(environment, BUILD)
    return passed_over | {f"{name}={environment[name]}": said for name, said in unknown.items()}


def _same(value: str, chosen: str | None) -> bool:
    return chosen is not None and (value == chosen or Path(value) == Path(chosen))
