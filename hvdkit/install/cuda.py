"""CUDA and NCCL to compile Horovod's GPU operations with: a system toolkit, or NVIDIA's Python packages.

Not for running on a GPU: a build machine needs none, nor a driver.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from hvdkit.install.errors import CudaError
from hvdkit.install.frameworks import Framework

_DRIVER = Path("/dev/nvidiactl")
_SYSTEM_HOME = Path("/usr/local/cuda")
_SYSTEM_PREFIX = Path("/usr")
# NVIDIA's Python packages that make nvcc, all of one minor: an older ptxas refuses a newer nvvm's PTX.
_COMPILER_PACKAGES = ("cuda-nvcc", "nvvm", "cuda-crt", "cuda-cccl")


@dataclass(frozen=True)
class Cuda:
    """What GPU operations are built with.

    home: folder with bin/nvcc. nccl: folder with include/nccl.h. gpus: compute capabilities ("80").
    CMake takes folders of Python packages only after `complete()`.
    """

    home: Path
    version: str
    nccl: Path
    nccl_version: str
    gpus: tuple[str, ...]

    def variables(self) -> dict[str, str]:
        """Horovod's build variables that do not name a folder: they are part of the wheel's key."""
        chosen = {"HOROVOD_GPU_OPERATIONS": "NCCL", "HOROVOD_NCCL_LINK": "SHARED"}
        return {**chosen, "HOROVOD_BUILD_CUDA_CC_LIST": ",".join(self.gpus)} if self.gpus else chosen


def capabilities(text: str) -> str:
    """Compute capabilities as Horovod's CMake takes them, "80,90", from how people write them: "8.0;9.0".

    Raises: CudaError.
    """
    found = [part for part in re.split(r"[;,\s]+", text) if part]
    if not found or not all(re.fullmatch(r"[0-9]+(\.?[0-9])[a-z]?", part) for part in found):
        raise CudaError(
            f"HOROVOD_BUILD_CUDA_CC_LIST={text} names no compute capabilities",
            "nvcc is asked for code of each of them",
            "HOROVOD_BUILD_CUDA_CC_LIST=80,90",
        )
    return ",".join(part.replace(".", "") for part in found)


def look(frameworks: tuple[Framework, ...], environment: Mapping[str, str]) -> Cuda | None:
    """CUDA and NCCL if a framework was built for CUDA, else None.

    A CUDA build of a framework on a machine with neither a toolkit nor a driver computes on the CPU, and gets
    a Horovod for the CPU: None too.
    Raises: CudaError where the toolkit, the right version of it, or NCCL is missing.
    """
    built_for = [framework for framework in frameworks if framework.cuda]
    if not built_for:
        return None
    packages = built_for[0].root.parent / "nvidia"
    home = next(_homes(environment, packages), None)
    if home is None:
        if not _DRIVER.exists():
            return None
        minor = ".".join((*str(built_for[0].cuda).split("."), "0")[:2])
        packages_needed = " ".join(f"nvidia-{part}=={minor}.*" for part in _COMPILER_PACKAGES)
        raise CudaError(
            f"{built_for[0].name} is built for CUDA {built_for[0].cuda}, and there is no nvcc",
            "Horovod's GPU operations are compiled with it",
            f"pip install {packages_needed}, or a CUDA toolkit (HOROVOD_CUDA_HOME names its folder)",
        )
    version = _nvcc_version(home)
    for framework in built_for:
        if str(framework.cuda).split(".")[0] != version.split(".")[0]:
            raise CudaError(
                f"{home} is CUDA {version}, {framework.name} is built for CUDA {framework.cuda}",
                "one process cannot load two major versions of the CUDA runtime",
                "set HOROVOD_CUDA_HOME=FOLDER to a different toolkit",
            )
    nccl = _nccl(environment, packages, home)
    return Cuda(
        home=home,
        version=version,
        nccl=nccl,
        nccl_version=_nccl_version(nccl / "include" / "nccl.h"),
        gpus=_capabilities(built_for),
    )


def complete(cuda: Cuda, folder: Path, compiler: str) -> tuple[Path, Path]:
    """Where CMake finds CUDA and NCCL: their own folders, or a complete view of them inside `folder`.

    NVIDIA's Python packages lack what a linker looks for: `lib64`, library names without a version, and the
    stub of libcuda. Either of the two may come from packages and the other from the system.
    Returns (CUDA home, NCCL home).
    """
    home = cuda.home if (cuda.home / "lib64").exists() else _complete_toolkit(cuda.home, folder, compiler)
    versioned = (cuda.nccl / "lib").glob("libnccl.so.*")
    named = cuda.nccl / "lib" / "libnccl.so"
    return home, _complete_nccl(cuda.nccl, folder) if any(versioned) and not named.exists() else cuda.nccl


def _complete_toolkit(source: Path, folder: Path, compiler: str) -> Path:
    home = folder / "cuda"
    home.mkdir()
    # Copied: nvcc takes the folder it lies in for the toolkit, links resolved.
    shutil.copytree(source / "bin", home / "bin")
    for part in ("include", "nvvm"):
        (home / part).symlink_to(source / part)
    _link_libraries(source / "lib", home / "lib64")
    (home / "lib").symlink_to("lib64")
    stub = home / "lib64" / "stubs" / "libcuda.so"
    stub.parent.mkdir()
    command = [compiler, "-shared", "-x", "c++", "-", "-Wl,-soname,libcuda.so.1", "-o", str(stub)]
    subprocess.run(command, input="", text=True, check=True)
    return home


def _complete_nccl(source: Path, folder: Path) -> Path:
    home = folder / "nccl"
    home.mkdir()
    (home / "include").symlink_to(source / "include")
    _link_libraries(source / "lib", home / "lib")
    return home


def _homes(environment: Mapping[str, str], packages: Path) -> Iterator[Path]:
    """Folders with bin/nvcc, the most deliberate choice first."""
    named = [environment[name] for name in ("HOROVOD_CUDA_HOME", "CUDA_HOME") if name in environment]
    on_path = shutil.which("nvcc", path=environment.get("PATH", os.defpath))
    candidates = [Path(name) for name in named]
    candidates += [_home_of(Path(on_path))] if on_path else []
    candidates += [_SYSTEM_HOME, *sorted(packages.glob("cu*"), reverse=True)]
    return (home for home in candidates if (home / "bin" / "nvcc").is_file())


def _home_of(nvcc: Path) -> Path:
    """The toolkit of an nvcc, which may be a script that starts one elsewhere: nvcc itself says where."""
    asked = [str(nvcc), "-v", "--dryrun", "program.cu"]
    answer = subprocess.run(asked, capture_output=True, text=True, check=False)
    top = re.search(r"^#\$ TOP=(.+)$", answer.stderr, re.MULTILINE)
    return Path(top.group(1)).resolve() if top else nvcc.resolve().parent.parent


def _nvcc_version(home: Path) -> str:
    nvcc = home / "bin" / "nvcc"
    answer = subprocess.run([str(nvcc), "--version"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"release (\d+\.\d+)", answer)
    if match is None:
        raise CudaError(
            f"{nvcc} --version prints no release", fix="set HOROVOD_CUDA_HOME=FOLDER to a different toolkit"
        )
    return match.group(1)


def _nccl(environment: Mapping[str, str], packages: Path, home: Path) -> Path:
    named = [Path(environment["HOROVOD_NCCL_HOME"])] if "HOROVOD_NCCL_HOME" in environment else []
    for folder in (*named, packages / "nccl", home, _SYSTEM_PREFIX):
        if (folder / "include" / "nccl.h").is_file():
            return folder
    raise CudaError(
        "CUDA is installed, but nccl.h is missing",
        "without NCCL every tensor would travel through the CPU",
        "apt-get install libnccl-dev, or HOROVOD_NCCL_HOME=FOLDER",
    )


def _nccl_version(header: Path) -> str:
    text = header.read_text(encoding="utf-8", errors="replace")
    parts = (
        re.search(rf"^#define NCCL_{part}\s+(\d+)", text, re.MULTILINE)
        for part in ("MAJOR", "MINOR", "PATCH")
    )
    return ".".join(part.group(1) for part in parts if part)


def _capabilities(frameworks: list[Framework]) -> tuple[str, ...]:
    numbers = {match.group(1) for f in frameworks for gpu in f.gpus if (match := re.search(r"_(\d+)", gpu))}
    return tuple(sorted(numbers, key=int))


def _link_libraries(source: Path, target: Path) -> None:
    """Link every library into `target`, also by the name that a linker looks for: libx.so for libx.so.2."""
    target.mkdir()
    for library in sorted(source.glob("lib*.*")):
        (target / library.name).symlink_to(library)
        plain = target / (library.name.split(".so")[0] + ".so")
        if ".so." in library.name and not plain.is_symlink():
            plain.symlink_to(library)
