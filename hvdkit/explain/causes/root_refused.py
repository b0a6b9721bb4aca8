"""Open MPI refuses to run as root."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="root_refused",
    title="Open MPI refuses to start as root",
    why="This is its default; in a container root is common.",
    fix="export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1, or run as another user",
    find=says(
        r"mpirun has detected an attempt to run as root",
    ),
    excerpt="""\
mpirun has detected an attempt to run as root.
Running as root is *strongly* discouraged as any mistake (e.g., in
""",
)
