"""What the other ranks say when one has failed; all that is left when its own words are not in the log."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="shut_down",
    title="Horovod was shut down{where}: another rank had ended first",
    why=(
        "`Horovod has been shut down` and `Connection closed by peer` are what the ranks that are left say "
        "when one has ended: by an error, or because its data or its loop ended early. Its own words come "
        "before it, and are not in this log."
    ),
    fix=(
        "take the output of all ranks and hosts: horovodrun --output-filename logs ..., then"
        " hvdkit explain --log job.log"
    ),
    find=says(
        r"Horovod has been shut down",
        r"Connection (?:reset|closed) by peer(?: \[(?P<peer>[^\]]+)\])?",
        r"MPI communication peer process has unexpectedly disconnected",
        r"Horovod detected that one or more processes exited with non-zero status",
        r"Primary job +terminated normally, but \d+ process",
    ),
    excerpt="""\
RuntimeError: Horovod detected that one or more processes exited with non-zero status, thus caus ...
Process name: 0
""",
    level=Level.FOLLOWS,
)
