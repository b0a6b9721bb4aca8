"""Open MPI's daemon is not found on another host."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="orted_missing",
    title="Open MPI's {program} is not found on another host",
    why=(
        "mpirun starts it there through ssh, whose shell is not interactive and knows a short PATH: Open MPI"
        " is not installed on that host, or elsewhere than here."
    ),
    fix=(
        "install the same Open MPI on every host, at the same place; where it is outside PATH: horovodrun"
        " --mpi --mpi-args='--prefix DIR', then `ssh HOST DIR/bin/orted --version` must succeed"
    ),
    find=says(
        r"(?<!\S)(?P<program>\S*\b(?:orted|prted)): "
        r"(?:command not found|not found|No such file or directory)",
    ),
    excerpt="""\
bash: line 1: orted: command not found
""",
    general={"program": "orted"},
)
