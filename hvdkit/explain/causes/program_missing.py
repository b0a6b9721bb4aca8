"""The program to start is not there."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="program_missing",
    title="the program {name} is not found{where}",
    why="Each rank starts it by the PATH of its host, in a shell that is not interactive.",
    fix="write the whole path: horovodrun -np 2 $(which python) train.py",
    find=says(
        r"^env: .(?P<name>[\w./-]+).: No such file or directory",
        r"(?:sh|bash)(?:: line \d+| ?: \d+)?: (?:\d+: )?(?:exec: )?(?P<name>[\w./-]+):"
        r" (?:command )?not found",
        r"(?s)mpirun was unable to find the specified executable file.*?Executable: (?P<name>\S+)",
        r"(?s)mpirun was unable to launch the specified application as it could not"
        r" access\s+or execute an executable:.*?Executable: (?P<name>\S+)",
        in_job=True,
    ),
    excerpt="""\
Process 0 exit with status code 127.
""",
    general={"name": "NAME"},
)
