"""An mpirun that takes `host:slots` for the name of a host."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="mpirun_old",
    title="mpirun takes {host}:{slots} for the name of a host",
    why=(
        "It does not know slots behind a host: it is an Open MPI older than horovodrun expects, or not Open "
        "MPI."
    ),
    fix=(
        "`which mpirun` and `mpirun --version` must show Open MPI 4 or later; another one comes first on the "
        "PATH"
    ),
    find=says(r"ssh: Could not resolve hostname (?P<host>[^:\s]+):(?P<slots>\d+):"),
    excerpt="""\
ssh: Could not resolve hostname localhost:4: Name or service not known
--------------------------------------------------------------------------
""",
    general={"host": "HOST", "slots": "SLOTS"},
    source="https://github.com/horovod/horovod/issues/951",
)
