"""mpirun could not start its daemons on the other hosts."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="daemon_unstarted",
    title="mpirun could not start its daemon on another host",
    why=(
        "It starts one (orted, prted) on each host, through ssh or the scheduler, which connects back "
        "to mpirun: Open MPI is not installed there or is another version, the host does not reach back "
        "over the network, or /tmp is not writable."
    ),
    fix=(
        "`ssh -o BatchMode=yes HOST orted --version` must print the version of `mpirun --version`; "
        "where an interface leads nowhere: horovodrun --network-interfaces eth0, or mpirun --mca "
        "oob_tcp_if_include eth0"
    ),
    find=says(
        r"[OP]RTE was unable to reliably start one or more daemons",
        r"An [OP]RTE daemon has unexpectedly failed after launch and before",
        r"A daemon \(pid \d+\) died unexpectedly with status \d+ while attempting",
        in_job=True,
    ),
    excerpt="""\
ORTE was unable to reliably start one or more daemons.
""",
    level=Level.WAITS,
    source="https://github.com/horovod/horovod/issues/301",
)
