"""There is no mpirun."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="no_mpirun",
    title="no mpirun is found",
    why=(
        "horovodrun --mpi, and horovodrun without a choice on a Horovod built with MPI, start the"
        " job with mpirun."
    ),
    fix="horovodrun --gloo, or install Open MPI: apt-get install openmpi-bin",
    find=says(
        r"horovod does not find an installed MPI",
        r"(?:mpirun|mpiexec): (?:command )?not found",
    ),
    excerpt="""\
/bin/sh: 1: mpirun: not found
Was unable to run mpirun --version:
""",
)
