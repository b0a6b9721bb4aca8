"""mpirun ended the job, and its message got lost."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="mpirun_silent",
    title="mpirun had something to say and could not print it",
    why=(
        "Open MPI 4.1.4, as Debian 12 has it, often loses its own messages (show_help.c): seen where a rank"
        " had called MPI_Abort, whose rank and code were in the message."
    ),
    fix="run the job once more, since it is lost by chance; or horovodrun --gloo, which does without mpirun",
    find=says(
        r"ORTE_ERROR_LOG: [^\n]* in file \S*show_help\.c",
    ),
    excerpt="""\
[node1:02516] [[25898,0],0] ORTE_ERROR_LOG: Data unpack had inadequate space in file ../../../or ...
""",
    level=Level.FOLLOWS,
)
