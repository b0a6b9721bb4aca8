"""MPI has no transport between two ranks."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="mpi_unreachable",
    title="MPI has no way between two of the ranks: {first} and {second}",
    why=(
        "The transports that are allowed (btl, pml) do not connect these hosts: the MCA options leave "
        "out what is needed, self is missing in the list, or the InfiniBand is not up on one of them."
    ),
    fix=(
        "mpirun -mca pml ob1 -mca btl ^openib, as horovodrun does, or --mca btl self,vader,tcp; with "
        "InfiniBand `ibstat` must show Active on every host"
    ),
    find=says(
        r"At least one pair of MPI processes are unable to reach each other[\s\S]{0,600}?Process 1"
        r" \([^)]*\) is on host: *(?P<first>\S+)\s+Process 2 \([^)]*\) is on host: *(?P<second>\S+)",
    ),
    excerpt="""\
At least one pair of MPI processes are unable to reach each other for
""",
    level=Level.WAITS,
    general={"first": "HOST", "second": "OTHER"},
    source="https://github.com/horovod/horovod/issues/2159",
)
