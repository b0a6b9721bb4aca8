"""ssh is refused by key."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="ssh_denied",
    title="a host does not let ssh in without a password",
    why=(
        "horovodrun and mpirun start the ranks of other hosts with ssh and cannot answer a prompt"
        " ({methods})."
    ),
    fix="ssh-copy-id HOST, then `ssh -o BatchMode=yes HOST true` must succeed",
    find=says(
        r"Permission denied \((?P<methods>publickey[^)]*)\)",
        in_job=True,
    ),
    excerpt="""\
root@b: Permission denied (publickey).
--------------------------------------------------------------------------
""",
    general={"methods": "publickey"},
)
