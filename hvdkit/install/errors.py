"""What can stand between this environment and a working Horovod, one type per cause."""

from __future__ import annotations

from pathlib import Path

from hvdkit.errors import HvdkitError


class NoFrameworkError(HvdkitError):
    """Neither PyTorch nor TensorFlow is installed."""

    def __init__(self, executable: str) -> None:
        super().__init__(
            f"neither torch nor tensorflow is installed for {executable}",
            "Horovod's extension is compiled against the framework it is used with",
            "install the framework first, then `hvdkit install-horovod`",
        )


class BrokenFrameworkError(HvdkitError):
    """A framework is installed but does not import."""

    def __init__(self, name: str, last_line: str) -> None:
        super().__init__(
            f"`import {name}` fails: {last_line}",
            "Horovod's build imports it to find headers, libraries and flags",
            f"fix or uninstall {name}",
        )


class MissingToolsError(HvdkitError):
    """Programs or headers that the build needs are not here; all of them are named at once.

    missing: (what was looked for, Debian package that holds it).
    """

    def __init__(self, missing: tuple[tuple[str, str], ...]) -> None:
        packages = " ".join(dict.fromkeys(package for _, package in missing))
        fix = f"apt-get install {packages}"
        if any(what in ("mpicxx", "mpirun") for what, _ in missing):
            fix += "  (or HOROVOD_WITHOUT_MPI=1 to build with Gloo only, which has no Adasum)"
        super().__init__(
            "not found: " + ", ".join(what for what, _ in missing),
            "Horovod is compiled here, from source",
            fix,
        )
        self.missing = missing


class CompilerError(HvdkitError):
    """The C++ compiler does not know the standard that the frameworks' headers ask for."""


class CudaError(HvdkitError):
    """A GPU build is called for, and a part of CUDA or NCCL is missing."""


class BuildError(HvdkitError):
    """pip, CMake or the compiler failed. log: the whole output."""

    def __init__(self, seen: str, why: str, fix: str, log: Path) -> None:
        super().__init__(seen, why, fix)
        self.log = log


class ProofError(HvdkitError):
    """Horovod was installed and does not do what it was built for."""
