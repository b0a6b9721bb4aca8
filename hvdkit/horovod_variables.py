"""The variables of Horovod 0.28.1 by their names: those of a job, and whether one that is set is any.

Horovod reads those it knows and says nothing of others: a misspelt one is passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hvdkit.arguments import nearest

# horovod/common/common.h, horovod/common/utils/env_parser.h, horovod/runner, horovod/spark
JOB = frozenset(
    f"HOROVOD_{name}"
    for name in (
        *("ADASUM_MPI_CHUNK_SIZE", "AUTOTUNE", "AUTOTUNE_BAYES_OPT_MAX_SAMPLES"),
        *("AUTOTUNE_GAUSSIAN_PROCESS_NOISE", "AUTOTUNE_LOG", "AUTOTUNE_STEPS_PER_SAMPLE"),
        *(
            "AUTOTUNE_WARMUP_SAMPLES",
            "BATCH_D2D_MEMCOPIES",
            "CACHE_CAPACITY",
            "CCL_BGT_AFFINITY",
            "CCL_CACHE",
        ),
        *("CONTROLLER", "CPU_OPERATIONS", "CROSS_RANK", "CROSS_SIZE", "CYCLE_TIME", "DISABLE_GROUP_FUSION"),
        *("DYNAMIC_PROCESS_SETS", "ELASTIC", "ELASTIC_TIMEOUT", "ENABLE_ASYNC_COMPLETION", "ENABLE_XLA_OPS"),
        *("FUSION_THRESHOLD", "GLOO_IFACE", "GLOO_RENDEZVOUS_ADDR", "GLOO_RENDEZVOUS_PORT"),
        *("GLOO_TIMEOUT_SECONDS", "HIERARCHICAL_ALLGATHER", "HIERARCHICAL_ALLREDUCE", "HOSTNAME"),
        *("LOCAL_RANK", "LOCAL_SIZE", "LOG_HIDE_TIME", "LOG_HIDE_TIMESTAMP", "LOG_LEVEL", "LOG_TIMESTAMP"),
        *("MPI_THREADS_DISABLE", "MPIRUN_ARGS", "NUM_NCCL_STREAMS", "RANK", "SIZE", "SPARK_PYTHONPATH"),
        *("SPARK_START_TIMEOUT", "SPARK_USE_LOCAL_RANK_GPU_INDEX", "SPARK_WORK_DIR", "STALL_CHECK_DISABLE"),
        *("STALL_CHECK_TIME_SECONDS", "STALL_SHUTDOWN_TIME_SECONDS", "START_TIMEOUT", "THREAD_AFFINITY"),
        *("TIMELINE", "TIMELINE_MARK_CYCLES", "TORUS_ALLREDUCE"),
    )
)


def unknown(environment: Mapping[str, str], build: Iterable[str]) -> dict[str, str]:
    """Variables that are set and that Horovod does not have, with what is said of each.

    build: the variables of its build.
    """
    known = sorted({*JOB, *build})
    found = {}
    for name in sorted(environment):
        if name.startswith("HOROVOD_") and name not in known:
            near = nearest(name, known)
            found[name] = "Horovod 0.28.1 has no such variable" + (f"; did you mean {near}?" if near else "")
    return found
