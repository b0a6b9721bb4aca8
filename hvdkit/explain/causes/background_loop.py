"""Horovod's background thread failed, or Gloo did, and says why in words that no other cause knows."""

from __future__ import annotations

import re

from hvdkit.explain.cause import Cause, Level, Match
from hvdkit.explain.follows import follows
from hvdkit.explain.log import Log

_SAYS = re.compile(
    r"Horovod background loop uncaught exception: (?P<said>[^\n]+)"
    r"|^terminate called after throwing an instance of 'gloo::[^\n]+\n *what\(\): *(?P<what>[^\n]+)",
    re.MULTILINE,
)
_PLACE = re.compile(r"^(?:\[[^\]]*(?:\.cc|\.h):\d+\] *)+")


def find(log: Log) -> Match | None:
    for hit in log.all(_SAYS):
        said = hit.groups["said"] or hit.groups["what"]
        if follows(said):
            continue
        where = "" if hit.line.rank is None else f" on rank {hit.line.rank}"
        return Match(hit.line.number, {"where": where, "said": _PLACE.sub("", said)})
    return None


CAUSE = Cause(
    id="background_loop",
    title="Horovod's own thread failed{where}: {said}",
    why=(
        "Each rank has a thread that runs the collectives. What it says here ended it, and with it the "
        "job; the"
        " `Horovod has been shut down` of all ranks follows from it."
    ),
    fix=(
        "run once more with HOROVOD_LOG_LEVEL=debug for what it did before; with GPUs NCCL_DEBUG=INFO and"
        " CUDA_LAUNCH_BLOCKING=1, which name the call"
    ),
    find=find,
    excerpt="""\
[2021-12-14 10:18:27.9: E horovod/common/operations.cc:649] [1]: Horovod background loop uncaugh ...
""",
    level=Level.FOLLOWS,
    general={"said": "MESSAGE"},
    source="https://github.com/NVIDIA-Merlin/NVTabular/issues/1320",
    generic=True,
)
