"""A host name that cannot be resolved."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="ssh_unknown_host",
    title="the host {host} is not known here",
    why="The name is in no DNS and in no /etc/hosts of the host that starts the job.",
    fix=("getent hosts {host} must print its address: correct -H, or add it to /etc/hosts on all hosts"),
    find=says(
        r"ssh: Could not resolve hostname (?P<host>[^:\s]+)(?!:\d+:)",
        in_job=True,
    ),
    excerpt="""\
ssh: Could not resolve hostname b: Temporary failure in name resolution
--------------------------------------------------------------------------
""",
    general={"host": "HOST"},
)
