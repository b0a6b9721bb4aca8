"""A rank of `hvdkit run` fell silent."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="host_lost",
    title="rank {rank} on {host} was not heard from again",
    why=(
        "It ended silently: its host is down or unreachable, or all of its processes were killed at once, "
        "by a container that is out of memory or a scheduler at its time limit."
    ),
    fix="ssh {host} 'uptime; dmesg | tail' says whether it is up, and what the kernel killed",
    find=says(r"^hvdkit: rank (?P<rank>\d+) on (?P<host>\S+) failed first: it was not heard (?:from|of any)"),
    excerpt="""\
hvdkit: rank 1 on node1 failed first: it was not heard of any more (killed, or its host is gone)
""",
    level=Level.OWN,
    general={"rank": "R", "host": "HOST"},
)
