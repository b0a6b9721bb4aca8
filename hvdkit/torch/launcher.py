"""What the environment says about this process: which launcher started it, as which rank of how many.

Reads variables only. It neither initialises Horovod nor sets anything, and imports neither torch nor
Horovod, so that the guards of `init()` can be tested and reused without them.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from hvdkit.errors import HvdkitError


class LaunchEnvironmentError(HvdkitError):
    """The variables that give this process its rank are half set, or are not a rank and a world size."""


class UnsynchronisedCopiesError(HvdkitError):
    """The launcher started more processes than Horovod connected."""


@dataclass(frozen=True)
class Launch:
    """One launcher's account of this process. local_size is None where the launcher does not tell it."""

    launcher: str
    rank: int
    size: int
    size_variable: str
    local_size: int | None = None


@dataclass(frozen=True)
class _Family:
    """The variables of one launcher. It counts only where `only_with`, if any, is set."""

    launcher: str
    rank: str
    sizes: tuple[str, ...]
    local_size: str
    only_with: str = ""


_HOROVODRUN = _Family("horovodrun", "HOROVOD_RANK", ("HOROVOD_SIZE",), "HOROVOD_LOCAL_SIZE")
_MPI = (
    _Family("mpirun", "OMPI_COMM_WORLD_RANK", ("OMPI_COMM_WORLD_SIZE",), "OMPI_COMM_WORLD_LOCAL_SIZE"),
    _Family("the MPI launcher", "PMI_RANK", ("PMI_SIZE",), "MPI_LOCALNRANKS"),
)
_FAMILIES = (
    _HOROVODRUN,
    *_MPI,
    _Family("torchrun or PyTorchJob", "RANK", ("WORLD_SIZE",), "LOCAL_WORLD_SIZE"),
    # sbatch and salloc set SLURM_NTASKS for the allocation; only srun makes processes, in a step. In a
    # step of one task (an interactive shell) SLURM_NTASKS may still be the allocation's: ask the step.
    _Family(
        "srun",
        "SLURM_PROCID",
        ("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"),
        "SLURM_NTASKS_PER_NODE",
        only_with="SLURM_STEP_ID",
    ),
)
# Without these a rank of a Gloo job waits for the others until it aborts, or takes local rank 0.
_GLOO = (
    "HOROVOD_LOCAL_RANK",
    "HOROVOD_LOCAL_SIZE",
    "HOROVOD_CROSS_RANK",
    "HOROVOD_CROSS_SIZE",
    "HOROVOD_GLOO_RENDEZVOUS_ADDR",
    "HOROVOD_GLOO_RENDEZVOUS_PORT",
)


def read_launches(environ: Mapping[str, str], *, mpi_built: bool) -> tuple[Launch, ...]:
    """Every launcher that says it started this process; several when one runs inside another.

    Args:
        environ: the process's environment.
        mpi_built: this Horovod has MPI. Its controller is then MPI unless HOROVOD_CONTROLLER says else.

    Raises:
        LaunchEnvironmentError: a rank without its world size or the reverse, values that cannot be
            right, or a Gloo job without what its ranks need to meet.
    """
    launches, halves = [], []
    for family in _FAMILIES:
        if family.only_with and not environ.get(family.only_with):
            continue
        size_variable = next((name for name in family.sizes if environ.get(name)), "")
        has_rank = bool(environ.get(family.rank))
        if has_rank and size_variable:
            launches.append(_launch(family, size_variable, environ))
        elif has_rank:
            halves.append((family, family.rank, family.sizes[0]))
        elif size_variable:
            halves.append((family, size_variable, family.rank))
    for family, present, missing in halves:
        # A leftover half is harmless beside a launcher that said everything, except Horovod's own.
        if family is _HOROVODRUN or not launches:
            raise _incomplete(present, environ[present], missing, family.launcher)
    _check_gloo(environ, launches, mpi_built)
    return tuple(launches)


def refuse_copies(launches: tuple[Launch, ...], rank: int, size: int) -> None:
    """Raise when a launcher started more processes than the world that Horovod made.

    A launcher inside another (horovodrun in a PyTorchJob, mpirun in a Slurm step) is fine: it is enough
    that one of them says what Horovod says. A world of one proves nothing about the other processes.

    Args:
        launches: from `read_launches`.
        rank, size: what Horovod says after its init.

    Raises:
        UnsynchronisedCopiesError: the script would run `size` times over, without a word to each other.
    """
    if size > 1 and any(launch.rank == rank and launch.size == size for launch in launches):
        return
    for launch in launches:
        if launch.size > size:
            raise UnsynchronisedCopiesError(
                f"{launch.launcher} started {launch.size} processes ({launch.size_variable}={launch.size}), "
                f"but Horovod's world has size {size}",
                why=f"Horovod did not connect them: {launch.size // size} unsynchronised copies of the "
                "script would train side by side and overwrite each other's files",
                fix=f"start it with `{_horovodrun(launch)}`",
            )


def _launch(family: _Family, size_variable: str, environ: Mapping[str, str]) -> Launch:
    rank, size = _integer(family.rank, environ), _integer(size_variable, environ)
    if not 0 <= rank < size:
        raise LaunchEnvironmentError(
            f"{family.rank}={rank} is not a rank of {size_variable}={size}",
            why="ranks count from 0 to the world size less one",
            fix=f"set both as {family.launcher} would, or unset both",
        )
    local = environ.get(family.local_size, "")
    return Launch(family.launcher, rank, size, size_variable, int(local) if local.isdecimal() else None)


def _integer(name: str, environ: Mapping[str, str]) -> int:
    try:
        return int(environ[name])
    except ValueError:
        raise LaunchEnvironmentError(
            f"{name}={environ[name]!r} is not an integer",
            why="it gives this process its place in the job",
            fix=f"set {name} to a number or unset it",
        ) from None


def _check_gloo(environ: Mapping[str, str], launches: list[Launch], mpi_built: bool) -> None:
    by_name = {launch.launcher: launch for launch in launches}
    horovodrun = by_name.get(_HOROVODRUN.launcher)
    several = horovodrun is not None and horovodrun.size > 1
    present = "HOROVOD_SIZE" if several else "HOROVOD_CONTROLLER"
    needed: list[str] = []
    if mpi_built:
        # A build with MPI takes MPI for whatever is not said: it would not look at the rank that is set,
        # or abort inside MPI because its controller never started it.
        if several and not any(family.launcher in by_name for family in _MPI):
            needed.append("HOROVOD_CONTROLLER")
        if environ.get("HOROVOD_CONTROLLER", "").lower() == "gloo":
            needed.append("HOROVOD_CPU_OPERATIONS")
    if several and environ.get("HOROVOD_CONTROLLER", "" if mpi_built else "gloo").lower() == "gloo":
        needed += _GLOO
    for name in needed:
        if not environ.get(name):
            raise _incomplete(present, environ[present], name, "horovodrun --gloo")


def _incomplete(present: str, value: str, missing: str, launcher: str) -> LaunchEnvironmentError:
    return LaunchEnvironmentError(
        f"{present}={value} is set but {missing} is not",
        why="with half of its environment a process runs alone, or waits for the others until it aborts",
        fix=f"set {missing} as {launcher} does, or unset {present}",
    )


def _horovodrun(launch: Launch) -> str:
    if launch.local_size is None:
        hosts = "HOST:SLOTS,..."
    elif launch.local_size >= launch.size:
        hosts = f"localhost:{launch.size}"
    else:
        hosts = f"HOST1:{launch.local_size},HOST2:{launch.local_size},..."
    return f"horovodrun -np {launch.size} -H {hosts} {shlex.join(['python', *sys.argv])}"
