"""Ray lost the process of a rank."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="ray_worker_died",
    title="Ray lost a worker process, and the worker's own error is not in the log",
    why=(
        "A rank under Ray is an actor. Its process ended without a Python error: it crashed in native code, "
        "or it was killed for memory, by Ray's own memory monitor or by the kernel."
    ),
    fix=(
        "on the node of that worker: the newest /tmp/ray/session_latest/logs/worker-*.err holds its last "
        "words, and dmesg | grep -i 'killed process' says whether memory ended it; then hvdkit explain "
        "--log FILE"
    ),
    find=says(
        r"A worker died or was killed while executing (?:a )?task",
        r"(?:RayActorError|ActorDiedError): [^\n]*The actor died",
        r"WorkerCrashedError: The worker died unexpectedly",
        in_job=True,
    ),
    excerpt="""\
2021-02-25 08:46:29,995\tWARNING worker.py:1107 -- A worker died or was killed while executing  ...
""",
    level=Level.WAITS,
    source="https://github.com/horovod/horovod/issues/2693",
)
