"""A plan made of plain data, for tests that vary one part of it."""

from __future__ import annotations

from pathlib import Path

from hvdkit.install import plan, standard, toolchain
from hvdkit.install.cuda import Cuda
from hvdkit.install.frameworks import Framework
from hvdkit.install.ignored import ignored
from hvdkit.install.system import Mpi, System

TORCH = Framework("torch", "2.13.0+cpu", Path("/env/torch"), ("-D_GLIBCXX_USE_CXX11_ABI=1",), None, ())
TENSORFLOW = Framework("tensorflow", "2.15.1", Path("/env/tensorflow"), ("--std=c++17",), None, ())
CUDA = Cuda(Path("/usr/local/cuda"), "13.0", Path("/usr"), "2.27.3", ("80", "90"))
SYSTEM = System(
    compiler="g++",
    compiler_version="g++ (Debian 12.2.0-14) 12.2.0",
    libstdcxx=12,
    cmake_version="cmake version 3.25.1",
    mpi=Mpi("mpirun (Open MPI) 4.1.4", "g++ -I/usr/lib/openmpi/include -lmpi"),
    cpu_flags=("-mf16c", "-mavx", "-mfma"),
    platform="linux-x86_64 glibc 2.36",
)


def make(
    frameworks: tuple[Framework, ...] = (TORCH,),
    system: System = SYSTEM,
    cuda: Cuda | None = None,
    cpp: int = 20,
    environment: dict[str, str] | None = None,
) -> plan.Plan:
    chosen = plan.variables(frameworks, system, cuda, environment or {})
    return plan.Plan(
        frameworks=frameworks,
        system=system,
        cuda=cuda,
        demands=(standard.Demand(cpp, "a test"),),
        toolchain=toolchain.files(cpp, system.libstdcxx, together=True),
        variables=chosen,
        requirements=(),
        ignored=ignored(environment or {}, chosen, cuda),
    )
