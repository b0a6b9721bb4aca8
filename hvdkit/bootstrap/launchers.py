"""Which launcher started this process: the order in which they are asked, and the guard against copies.

Reads variables only. It neither initialises Horovod nor sets anything, and imports neither a framework nor
Horovod. What one launcher's variables mean is in the module of its name.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping

from hvdkit.bootstrap import horovodrun, mpi, slurm, torchrun
from hvdkit.bootstrap.errors import UnsynchronisedCopiesError
from hvdkit.bootstrap.launch import Launch, Meeting
from hvdkit.bootstrap.variables import half, incomplete, read

_FAMILIES = (horovodrun.FAMILY, *mpi.FAMILIES, torchrun.FAMILY, slurm.FAMILY)
_MEETINGS = {torchrun.FAMILY.launcher: torchrun.meeting, slurm.FAMILY.launcher: slurm.meeting}


def read_launches(environ: Mapping[str, str], *, mpi_built: bool) -> tuple[Launch, ...]:
    """Every launcher that says it started this process; the first one decides.

    There are several when one runs inside another.

    Args:
        environ: the process's environment.
        mpi_built: this Horovod has MPI. Its controller is then MPI unless HOROVOD_CONTROLLER says else.

    Raises:
        LaunchEnvironmentError: a rank without its world size or the reverse, values that cannot be
            right, or a Gloo job without what its ranks need to meet.
    """
    found = [(family, read(family, environ)) for family in _FAMILIES]
    launches = {family: launch for family, launch in found if launch is not None}
    for family in _FAMILIES:
        gap = half(family, environ)
        # A leftover half is harmless beside a launcher that said everything, except Horovod's own.
        if gap is not None and (family is horovodrun.FAMILY or not launches):
            raise incomplete(gap[0], environ[gap[0]], gap[1], family.launcher)
    under_mpi = any(family in launches for family in mpi.FAMILIES)
    horovodrun.check(environ, launches.get(horovodrun.FAMILY), under_mpi=under_mpi, mpi_built=mpi_built)
    return tuple(launches.values())


def meeting_of(environ: Mapping[str, str], launches: tuple[Launch, ...]) -> Meeting | None:
    """Where the ranks meet; None where Horovod needs no help: horovodrun, MPI, or a world of one.

    Raises:
        LaunchEnvironmentError: the deciding launcher did not say where, or contradicts itself.
    """
    if not launches or launches[0].size == 1:
        return None
    meeting = _MEETINGS.get(launches[0].launcher)
    return meeting(environ, launches[0]) if meeting else None


def is_connected(launch: Launch) -> bool:
    """Whether Horovod finds the other ranks of this launcher itself."""
    return launch.launcher not in _MEETINGS


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
                why=f"Horovod did not connect them: {launch.size // size} unsynchronized copies of "
                "the script would train independently and overwrite each other's files",
                fix=f"start it with `{_horovodrun(launch)}`",
            )


def _horovodrun(launch: Launch) -> str:
    if launch.local_size is None:
        hosts = "HOST:SLOTS,..."
    elif launch.local_size >= launch.size:
        hosts = f"localhost:{launch.size}"
    else:
        hosts = f"HOST1:{launch.local_size},HOST2:{launch.local_size},..."
    return f"horovodrun -np {launch.size} -H {hosts} {shlex.join(['python', *sys.argv])}"
