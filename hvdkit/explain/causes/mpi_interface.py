"""Open MPI was given an interface that is not there."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="mpi_interface",
    title="Open MPI does not find the interface {name}{where}",
    why=(
        "btl_tcp_if_include, which horovodrun --network-interfaces sets, names an interface or a "
        "network that this host does not have: another name, or it is down."
    ),
    fix=(
        "`ip -brief address` on each host; where the names differ, give the network instead: mpirun "
        "--mca btl_tcp_if_include 10.0.0.0/24 --mca oob_tcp_if_include 10.0.0.0/24"
    ),
    find=says(
        r"invalid value was (?:given|supplied) for (?:an? )?(?:MCA variable )?\w*(?:btl|oob)_tcp_if_"
        r"(?:include|exclude)[\s\S]{0,240}?Value: *(?P<name>\S+)",
        r"[Ii]nterface (?P<name>\S+) (?:given|specified) in \w*tcp_if_include[^\n]*not found",
        r"No network interfaces were found for out-of-band communications(?P<name>)",
        in_job=True,
    ),
    excerpt="""\
WARNING: An invalid value was given for btl_tcp_if_include.  This
""",
    level=Level.WAITS,
    general={"name": "NAME"},
    source="https://github.com/horovod/horovod/issues/2568",
)
