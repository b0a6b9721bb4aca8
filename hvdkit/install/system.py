"""Compiler, CMake, make, MPI and Python headers of this machine. Looks and names; changes nothing."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hvdkit.install.errors import MissingToolsError

# The first that reads CMAKE_PROJECT_INCLUDE, by which toolchain.py reaches Horovod's CMakeLists.txt.
OLDEST_CMAKE = (3, 15)
# The flags that Horovod compiles its half-precision sums with, and what Linux calls the feature.
_CPU_FLAGS = {"-mf16c": "f16c", "-mavx": "avx", "-mfma": "fma"}


@dataclass(frozen=True)
class Mpi:
    """An MPI with its compiler wrapper. show: the compile line that the wrapper stands for."""

    version: str
    show: str


@dataclass(frozen=True)
class System:
    """The tools that Horovod is built with.

    libstdcxx: major release of GNU's standard library, None with another one.
    cpu_flags: those of Horovod's optional instruction sets that this processor has.
    """

    compiler: str
    compiler_version: str
    libstdcxx: int | None
    cmake_version: str
    mpi: Mpi | None
    cpu_flags: tuple[str, ...]
    platform: str


def look(environment: Mapping[str, str]) -> System:
    """What is here, found on `environment`'s PATH; `CXX` and `HOROVOD_CMAKE` are honoured.

    MPI is left out where HOROVOD_WITHOUT_MPI=1 says so.
    Raises: MissingToolsError, with everything that is missing in one message.
    """
    path = environment.get("PATH", os.defpath)
    compiler = environment.get("CXX", "g++")
    cmake = environment.get("HOROVOD_CMAKE", "cmake")
    want_mpi = environment.get("HOROVOD_WITHOUT_MPI") != "1"
    needed = [(compiler, "g++"), ("make", "make"), (cmake, "cmake")]
    needed += [("mpicxx", "libopenmpi-dev"), ("mpirun", "openmpi-bin")] if want_mpi else []
    missing = [pair for pair in needed if shutil.which(pair[0], path=path) is None]
    if not (Path(sysconfig.get_path("include")) / "Python.h").is_file():
        missing.append(("Python.h", "python3-dev"))
    cmake_version = "" if (cmake, "cmake") in missing else _first_line([cmake, "--version"], environment)
    if cmake_version and _numbers(cmake_version) < OLDEST_CMAKE:
        missing.append(
            (f"CMake {OLDEST_CMAKE[0]}.{OLDEST_CMAKE[1]} or later (here: {cmake_version})", "cmake")
        )
    if missing:
        raise MissingToolsError(tuple(missing))
    return System(
        compiler=compiler,
        compiler_version=_first_line([compiler, "--version"], environment),
        libstdcxx=_libstdcxx(compiler, environment),
        cmake_version=cmake_version,
        mpi=_mpi(environment) if want_mpi else None,
        cpu_flags=_cpu_flags(),
        platform=f"{sysconfig.get_platform()} {' '.join(platform.libc_ver())}".strip(),
    )


def _mpi(environment: Mapping[str, str]) -> Mpi:
    version = mpi_version(_said(["mpirun", "--version"], environment))
    return Mpi(version, _first_line(["mpicxx", "-show"], environment))


def mpi_version(said: str) -> str:
    """Name and number from what `mpirun --version` prints; the first line of MPICH's launcher has neither."""
    hydra = re.match(r"HYDRA build details:\s+Version:\s+(\S+)", said)
    return f"mpirun (MPICH) {hydra.group(1)}" if hydra else said.splitlines()[0]


def _libstdcxx(compiler: str, environment: Mapping[str, str]) -> int | None:
    """Asked of the headers, not of the compiler: clang uses GNU's library too."""
    macros = subprocess.run(
        [compiler, "-x", "c++", "-E", "-dM", "-"],
        input="#include <cstddef>\n",
        env=dict(environment),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    release = re.search(r"^#define _GLIBCXX_RELEASE (\d+)", macros, re.MULTILINE)
    return int(release.group(1)) if release else None


def _cpu_flags() -> tuple[str, ...]:
    if platform.machine() != "x86_64":
        return ()
    match = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    features = set(match.group(1).split()) if match else set()
    return tuple(flag for flag, feature in _CPU_FLAGS.items() if feature in features)


def _first_line(command: list[str], environment: Mapping[str, str]) -> str:
    return _said(command, environment).splitlines()[0]


def _said(command: list[str], environment: Mapping[str, str]) -> str:
    return subprocess.run(command, env=dict(environment), capture_output=True, text=True, check=True).stdout


def _numbers(version: str) -> tuple[int, ...]:
    match = re.search(r"\d+(\.\d+)+", version)
    return tuple(int(number) for number in match.group().split(".")) if match else (0,)
