"""No ssh server answers."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="ssh_unreachable",
    title="ssh does not reach {host}:{port}: {reason}",
    why="Nothing listens there, a firewall is between, or the port is another one.",
    fix=(
        "start sshd on {host}, or name its port: horovodrun -p PORT; `ssh -o BatchMode=yes {host}"
        " true` must succeed"
    ),
    find=says(
        r"ssh: connect to host (?P<host>\S+) port (?P<port>\d+): (?P<reason>.+)",
        in_job=True,
    ),
    excerpt="""\
ssh: connect to host b port 22: Connection refused
Traceback (most recent call last):
""",
    general={"host": "HOST", "port": "PORT", "reason": "refused or timed out"},
)
