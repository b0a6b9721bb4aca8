"""A worker of a DataLoader ended by itself."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="worker_ended",
    title="a DataLoader worker ended{where}, and its own error is not in the log",
    why=(
        "The worker is a separate process: it ended without passing on its exception, by "
        "os._exit(), in native"
        " code, or because it was killed for memory."
    ),
    fix=(
        "num_workers=0 runs the same code in the rank, where the error shows; dmesg | grep -i 'killed "
        "process';"
        " with spawn or forkserver, an `if __name__ == '__main__':` around what the script does"
    ),
    find=says(
        r"DataLoader worker \(pid\(?s?\)? [\d, ]+\) exited unexpectedly",
        in_job=True,
    ),
    excerpt="""\
RuntimeError: DataLoader worker (pid(s) 372) exited unexpectedly
""",
    level=Level.OWN,
    source="https://github.com/horovod/horovod/issues/2255",
)
