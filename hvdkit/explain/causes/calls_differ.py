"""Each rank waits in a collective that the other does not call."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, Match
from hvdkit.explain.log import Log
from hvdkit.explain.waiting import waiting


def find(log: Log) -> Match | None:
    seen = waiting(log)
    if seen is None or not seen.crossed or seen.alike:
        return None
    told = "; ".join(
        f"rank {rank} never reaches {', '.join(names[:2])}"
        for rank, names in sorted(seen.missing.items())[:4]
    )
    return Match(seen.line, {"told": told})


CAUSE = Cause(
    id="calls_differ",
    title="the ranks wait for each other in different calls: {told}",
    why=(
        "Every rank has to make every collective call, and in the same order. One makes a call that the "
        "others do"
        " not, as inside `if hvd.rank() == 0` (an evaluation, a metric, a checkpoint), or has left its "
        "loop, and"
        " the others have gone on to their next call."
    ),
    fix=(
        "call it on every rank, outside the test; the same number of batches on all ranks "
        "(DistributedSampler,"
        " drop_last=True)"
    ),
    find=find,
    excerpt="""\
0: [allreduce.fc.bias, allreduce.fc.weight]
1: [allreduce.val_loss]
""",
    level=Level.WAITS,
    general={"told": "RANK never reaches TENSOR; OTHER never reaches ANOTHER"},
    source="https://github.com/horovod/horovod/issues/2843",
)
