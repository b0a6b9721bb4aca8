"""Some ranks wait in a collective that others never reach."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, Match
from hvdkit.explain.log import Log
from hvdkit.explain.waiting import waiting

# Names that Horovod or a helper gives by itself, and what makes a rank miss them.
HINTS = (
    ("allreduce.noname", "It has no name: the ranks made another number of unnamed calls before it."),
    ("broadcast", "It is a broadcast: rank 0 alone restores a checkpoint, or builds another model."),
    ("sync_batch_norm", "It is in a SyncBatchNorm: rank 0 alone evaluates, or has one batch more."),
    ("MetricAverage", "It averages metrics: a callback runs on rank 0 alone."),
)


def find(log: Log) -> Match | None:
    seen = waiting(log)
    if seen is None or seen.crossed:
        return None
    hint = next((text for part, text in HINTS if part in seen.names()), "")
    return Match(seen.line, {"who": seen.who(), "names": seen.names(), "hint": hint})


CAUSE = Cause(
    id="stalled",
    title="{who} {names}, and the others wait for it",
    why=(
        "Every rank has to make every collective call. A call inside `if hvd.rank() == 0` (evaluation, a"
        " checkpoint), or another number of batches per rank, leaves the others waiting forever. {hint}"
    ),
    fix=(
        "call it on all ranks, outside the test; give all ranks the same number of batches"
        " (DistributedSampler, drop_last=True)"
    ),
    find=find,
    excerpt="""\
[2026-11-21 23:52:11.139023: T horovod/common/operations.cc:1539] [0]: Enqueued allreduce.0.weight;
[2026-11-21 23:52:11.144456: T horovod/common/controller.cc:188] [0]: Sent 4 messages to coordin ...
""",
    level=Level.WAITS,
    general={"who": "RANK never reaches", "names": "TENSOR"},
)
