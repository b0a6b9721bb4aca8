"""Shows that the Horovod that is installed works: import, `--check-build`, one allreduce per controller.

Not for speed and not for several hosts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hvdkit import interpreter
from hvdkit.install import processes
from hvdkit.install.errors import ProofError
from hvdkit.install.plan import Plan

_LAUNCHER = interpreter.code(
    "from hvdkit.interpreter import guard_workers; guard_workers()\n"
    "from horovod.runner.launch import run_commandline; run_commandline()"
)
_TIMEOUT_S = 300.0
_TITLES = {"torch": "PyTorch", "tensorflow": "TensorFlow", "gloo": "Gloo", "mpi": "MPI"}


@dataclass(frozen=True)
class Step:
    """One thing that was shown, and how long it took."""

    what: str
    seconds: float


def prove(plan: Plan, environment: Mapping[str, str]) -> Iterator[Step]:
    """Each step as it passes. Raises: ProofError at the first that does not."""
    clean = job_environment(environment)
    names = [framework.name for framework in plan.frameworks]
    for name in names:
        module = f"horovod.{name}"
        yield _step(f"import {module}", interpreter.code(f"import {module}"), clean)[0]
    step, built = _step("horovodrun --check-build", [*_LAUNCHER, "--check-build"], clean)
    wanted = [*names, *plan.controllers]
    absent = [_TITLES[name] for name in wanted if f"[X] {_TITLES[name]}" not in built]
    absent += ["NCCL"] if plan.cuda and "[X] NCCL" not in built else []
    if absent:
        raise ProofError(f"horovodrun --check-build does not show {', '.join(absent)}:\n{built.rstrip()}")
    yield step
    for controller in plan.controllers:
        for name in names:
            what = f"allreduce on 2 ranks, {name}, {controller}"
            yield _step(what, job(controller, name, plan), clean)[0]


def job(controller: str, framework: str, plan: Plan) -> list[str]:
    """The command of the allreduce: horovodrun's, where it knows this MPI."""
    work = interpreter.module("hvdkit.install.allreduce", framework)
    if controller == "mpi" and plan.system.mpi and "MPICH" in plan.system.mpi.version:
        # horovodrun looks for that name in what `mpirun --version` prints, and Hydra's own text lacks it.
        return ["mpirun", "-np", "2", *work]
    options = ["-np", "2", "-H", "localhost:2", f"--{controller}"]
    if controller == "mpi" and plan.system.mpi and "Open MPI" in plan.system.mpi.version:
        # horovodrun's own words for this have one dash, which Open MPI 6 no longer takes.
        options.append("--binding-args=--bind-to none --map-by slot")
        # As many ranks as cores, or more: they must not spin while they wait for each other.
        options.append("--mpi-args=--oversubscribe --mca mpi_yield_when_idle 1")
    return [*_LAUNCHER, *options, *work]


def job_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """`environment` without the rank and settings of a job that hvdkit may be running in."""
    clean = {
        name: value
        for name, value in environment.items()
        if not name.startswith(("HOROVOD_", "OMPI_", "PMI"))
    }
    clean["TF_CPP_MIN_LOG_LEVEL"] = "2"
    if os.geteuid() == 0:
        # Open MPI asks root to say twice that it is meant.
        clean.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    return clean


def _step(what: str, command: list[str], environment: Mapping[str, str]) -> tuple[Step, str]:
    began = time.monotonic()
    code, output = processes.run(command, environment, _TIMEOUT_S)
    if code != 0:
        ended = f"ran past {_TIMEOUT_S:.0f} s" if code is None else f"ended with exit code {code}"
        raise ProofError(f"{what} {ended}:\n{output.rstrip()}", "the installed Horovod cannot be used")
    return Step(what, time.monotonic() - began), output
