"""No more processes or threads may be started."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="processes",
    title="no more processes or threads may be started{where}",
    why=(
        "All ranks, their DataLoader workers and the threads of OpenMP count together against the limit "
        "of the user, or of the container's pids."
    ),
    fix=(
        "OMP_NUM_THREADS=1 and fewer num_workers; ulimit -u, docker run --pids-limit, or the limit of the pod"
    ),
    find=says(
        r"libgomp: Thread creation failed",
        r"OpenBLAS blas_thread_init: pthread_create failed",
        r"can't start new thread",
        r"(?:fork|BlockingIOError|Cannot fork)[^\n]*Resource temporarily unavailable",
        in_job=True,
    ),
    excerpt="""\
OpenBLAS blas_thread_init: pthread_create failed for thread 11 of 64: Resource temporarily unava ...
""",
    level=Level.OWN,
    source="https://github.com/OpenMathLib/OpenBLAS/issues/1668",
)
