"""Each rank waits in a collective under a name that the other does not use."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, Match
from hvdkit.explain.log import Log
from hvdkit.explain.waiting import waiting


def find(log: Log) -> Match | None:
    seen = waiting(log)
    if seen is None or not seen.alike:
        return None
    return Match(seen.line, {"ranks": seen.ranks(), "names": seen.names()})


CAUSE = Cause(
    id="names_differ",
    title="the ranks wait for each other under different names: {names}",
    why=(
        "Horovod matches tensors between ranks {ranks} by name. The names hold something"
        " that differs: the rank,"
        " a counter after another number of calls, the order of a set, another version of the script, or of"
        " TensorFlow, whose versions name variables differently."
    ),
    fix="the same name= on all ranks, in the same order of calls, and the same versions on all hosts",
    find=find,
    excerpt="""\
[2026-11-21 23:56:46.531414: T horovod/common/operations.cc:1661] [1]: Enqueued tensors for Allg ...
[2026-11-21 23:56:46.576346: T horovod/common/controller.cc:188] [1]: Sent 1 messages to coordin ...
""",
    level=Level.WAITS,
    general={"names": "loss, loss_1", "ranks": "0 and 1"},
)
