"""The C++ standard that the installed frameworks are to be compiled against, read from their own files.

No table of versions: a framework says itself what it needs, in one or more of these places.
PyTorch: the `#error` lines at the top of its main headers, and the `CXX_STANDARD` that its CMake package
asks of whoever links to it (the `#error` may lag behind: the library is then compiled with a newer one).
TensorFlow: the `-std=` flag of `tf.sysconfig.get_compile_flags()`.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from hvdkit.install.errors import CompilerError
from hvdkit.install.frameworks import Framework

# What Horovod itself is written in; frameworks that ask for less get this.
HOROVOD_STANDARD = 14

_TORCH_FILES = {
    "include/ATen/ATen.h": re.compile(r"#\s*error\b.*\bC\+\+(\d\d)\b"),
    "include/torch/csrc/api/include/torch/all.h": re.compile(r"#\s*error\b.*\bC\+\+(\d\d)\b"),
    "share/cmake/Torch/TorchConfig.cmake": re.compile(r"\bCXX_STANDARD\s+(\d\d)\b"),
}
_FLAG = re.compile(r"^--?std=(?:c|gnu)\+\+(\d\w)$")
# Names that compilers use for a standard before it is published.
_DRAFTS = {"0x": 11, "1y": 14, "1z": 17, "2a": 20, "2b": 23}


@dataclass(frozen=True)
class Demand:
    """One place that asks for C++ `standard` (two digits of the year)."""

    standard: int
    source: str


def demands(frameworks: tuple[Framework, ...]) -> tuple[Demand, ...]:
    """Every standard that the frameworks ask for, with where they say so, and Horovod's own first."""
    found = [Demand(HOROVOD_STANDARD, "Horovod's sources")]
    for framework in frameworks:
        found += _from_files(framework) if framework.name == "torch" else ()
        found += _from_flags(framework)
    return tuple(found)


def highest(asked: tuple[Demand, ...]) -> int:
    """The standard that serves all: headers written for an older one are valid under a newer one."""
    return max(demand.standard for demand in asked)


def check_compiler(compiler: str, standard: int) -> None:
    """Raises: CompilerError if `compiler` does not accept `-std=c++<standard>`."""
    command = [compiler, f"-std=c++{standard}", "-fsyntax-only", "-x", "c++", "-"]
    answer = subprocess.run(command, input="", capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise CompilerError(
            f"{compiler} does not support C++{standard}: {answer.stderr.strip().splitlines()[0]}",
            "the framework's headers need it",
            "install a newer g++ and name it: CXX=g++-12 hvdkit install-horovod",
        )


def _from_files(framework: Framework) -> Iterator[Demand]:
    for name, pattern in _TORCH_FILES.items():
        file = framework.root / name
        if file.is_file():
            years = [
                int(year) for year in pattern.findall(file.read_text(encoding="utf-8", errors="replace"))
            ]
            if years:
                yield Demand(max(years), f"{framework.name} {framework.version}, {name}")


def _from_flags(framework: Framework) -> Iterator[Demand]:
    for flag in framework.flags:
        match = _FLAG.match(flag)
        if match:
            year = match.group(1)
            source = f"{framework.name} {framework.version}, compile flag {flag}"
            yield Demand(_DRAFTS[year] if year in _DRAFTS else int(year), source)
