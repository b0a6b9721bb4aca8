"""A rank is outside the world size that it was given."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="world_size",
    title="rank {rank} was started in a world of {size}{where}",
    why=(
        "HOROVOD_RANK and HOROVOD_SIZE of this process contradict each other: two jobs share one set "
        "of worker processes, or the number of workers changed after the ranks were numbered."
    ),
    fix=(
        "start each job in fresh worker processes with HOROVOD_RANK, HOROVOD_SIZE, "
        "HOROVOD_LOCAL_RANK and HOROVOD_LOCAL_SIZE from one launcher; env | grep HOROVOD_ in each "
        "worker shows them"
    ),
    find=says(
        r"gloo/context\.cc:\d+\] rank < size\. (?P<rank>\d+) vs (?P<size>\d+)",
        in_job=True,
    ),
    excerpt="""\
  what():  [enforce fail at /tmp/pip-install-3/horovod/third_party/gloo/gloo/context.cc:25] rank ...
""",
    general={"rank": "R", "size": "N"},
    source="https://github.com/intel/BigDL/issues/2919",
)
