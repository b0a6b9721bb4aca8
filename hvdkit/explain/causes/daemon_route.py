"""Open MPI's daemons do not find a way to each other."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="daemon_route",
    title="Open MPI's daemon on {host} finds no way to {target}",
    why=(
        "The daemons pass messages on from host to host, under the names that mpirun knows: a host does "
        "not know another's name, has the same name as another, or its interface does not lead there; "
        "in Kubernetes a pod was not ready yet."
    ),
    fix=(
        "`getent hosts {target}` on every host must print the address by which it is reached; "
        "horovodrun --network-interfaces eth0, or mpirun --mca oob_tcp_if_include eth0 --mca routed "
        "direct"
    ),
    find=says(
        r"(?:ORTE|PRTE) does not know how to route a message to the specified daemon\s+located on the"
        r" indicated node:\s+my node: *(?P<host>\S+)\s+target node: *(?P<target>\S+)",
        in_job=True,
    ),
    excerpt="""\
ORTE does not know how to route a message to the specified daemon
""",
    general={"host": "HOST", "target": "OTHER"},
    source="https://github.com/horovod/horovod/issues/504",
)
