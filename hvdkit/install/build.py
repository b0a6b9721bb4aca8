"""Runs pip: the requirements, Horovod's wheel from its released source, and the installation of a wheel."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from hvdkit import interpreter
from hvdkit.install import HOROVOD_VERSION, cache, cuda, failure, headers, processes, progress, toolchain
from hvdkit.install.errors import BuildError
from hvdkit.install.plan import Plan

_PIP = interpreter.module("pip", "--disable-pip-version-check")
# A compiler that reads a framework's headers takes about this much.
_BYTES_PER_JOB = 2 << 30


def wheel_command(target: Path) -> list[str]:
    """The pip call that compiles Horovod.

    No isolation: an isolated build sees no framework. No cache: pip keeps built wheels by version alone and
    would hand out one that was compiled against another framework.
    """
    requirement = f"horovod=={HOROVOD_VERSION}"
    quiet_options = ["--no-deps", "--no-build-isolation", "--no-cache-dir", "--no-binary", "horovod"]
    return [*_PIP, "wheel", "-v", *quiet_options, "--wheel-dir", str(target), requirement]


def requirements_command(requirements: tuple[str, ...]) -> list[str]:
    """The pip call that adds what Horovod's build and run need."""
    return [*_PIP, "install", "--quiet", *requirements]


def install_command(wheel: Path) -> list[str]:
    """The pip call that puts `wheel` in place of any other Horovod."""
    return [*_PIP, "install", "--quiet", "--no-deps", "--force-reinstall", "--no-index", str(wheel)]


def build_wheel(plan: Plan, store: Path, environment: Mapping[str, str]) -> cache.Entry:
    """Compile Horovod as planned and put the wheel into the cache `store`.

    Raises: BuildError with the first error of the output. Ctrl-C leaves nothing running nor half-done.
    """
    store.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".build-", dir=store) as scratch:
        folder = Path(scratch)
        log = cache.log_path(store, plan.key)
        pip(wheel_command(folder), log, _build_environment(plan, folder, environment))
        (wheel,) = folder.glob("*.whl")
        return cache.put(store, plan.key, wheel, plan.ingredients())


def jobs() -> int:
    """Compilers to run at once: one per core that we may use, as far as memory goes."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(len(os.sched_getaffinity(0)), memory // _BYTES_PER_JOB))


def _build_environment(plan: Plan, folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """The person's environment without any HOROVOD_* (a job's, or a choice that the key knows nothing of)."""
    clean = {name: value for name, value in environment.items() if not name.startswith("HOROVOD_")}
    clean.setdefault("MAKEFLAGS", f"-j{jobs()}")
    clean.update(plan.variables)
    cmake = shutil.which(plan.variables.get("HOROVOD_CMAKE", "cmake"), path=clean["PATH"])
    assert cmake is not None  # the plan has asked it for its version
    clean["HOROVOD_CMAKE"] = str(toolchain.write(folder, plan.toolchain, cmake, _mpi_wrappers(plan, clean)))
    includes = [str(path) for path in headers.folders(plan.frameworks, folder)]
    if includes:
        theirs = [clean["CPLUS_INCLUDE_PATH"]] if clean.get("CPLUS_INCLUDE_PATH") else []
        clean["CPLUS_INCLUDE_PATH"] = os.pathsep.join(includes + theirs)
    # pip unpacks and compiles in here, so that nothing is left elsewhere.
    clean["TMPDIR"] = str(folder)
    if plan.cuda:
        home, nccl = cuda.complete(plan.cuda, folder, plan.system.compiler)
        clean.update(CUDA_HOME=str(home), HOROVOD_CUDA_HOME=str(home), HOROVOD_NCCL_HOME=str(nccl))
        clean["PATH"] = os.pathsep.join([str(home / "bin"), clean["PATH"]])
    return clean


def _mpi_wrappers(plan: Plan, environment: Mapping[str, str]) -> dict[str, str]:
    """The compiler wrappers of the MPI that the PATH names first. CMake's own search may find another one."""
    if plan.system.mpi is None:
        return {}
    named = {"MPI_CXX_COMPILER": "mpicxx", "MPI_C_COMPILER": "mpicc"}
    found = {name: shutil.which(program, path=environment["PATH"]) for name, program in named.items()}
    return {name: path for name, path in found.items() if path}


def pip(command: list[str], log: Path, environment: Mapping[str, str]) -> None:
    """Run one of the pip calls above, its output in `log`. Raises: BuildError."""
    log.parent.mkdir(parents=True, exist_ok=True)
    action = command[len(_PIP)]
    title = {"wheel": "compiling Horovod", "install": "installing"}[action]
    with log.open("w", encoding="utf-8") as file, progress.shown(title) as show:
        with processes.group(command, environment) as process:
            assert process.stdout is not None
            for line in process.stdout:
                file.write(line)
                file.flush()
                show(line)
            code = process.wait()
    if code != 0:
        found = failure.first_error(log.read_text(encoding="utf-8").splitlines())
        raise BuildError(
            "\n".join(found.lines), f"`pip {action}` failed; all of its output: {log}", found.fix, log
        )
