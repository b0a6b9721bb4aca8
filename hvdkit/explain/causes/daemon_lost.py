"""mpirun lost its daemon on another host."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="daemon_lost",
    title="mpirun lost the host {host}",
    why=(
        "Its daemon there (orted, prted) no longer answers: the host is down or was rebooted, preempted "
        "or evicted, the network between was cut, or the daemon was killed, as a host that is out of "
        "memory does."
    ),
    fix=(
        "ssh {host} 'uptime; dmesg | tail' says whether it is up and what the kernel killed, kubectl "
        "get pods -o wide where it is a pod; then start again from the last checkpoint"
    ),
    find=says(
        r"[OP]RTE has lost communication with a remote daemon[^\n]*\n"
        r"(?:[^\n]*\n){0,4}? *Remote daemon *:[^\n]* on node (?P<host>\S+)",
        r"[OP]RTE has lost communication with (?:its|a) daemon located on node:\s+hostname: *"
        r"(?P<host>\S+)",
        r"ORTE daemon has (?:unexpectedly|died)[^\n]*?on node (?P<host>\S+)",
    ),
    excerpt="""\
ORTE has lost communication with a remote daemon.
""",
    general={"host": "HOST"},
    source="https://github.com/kubeflow/mpi-operator/issues/152",
)
