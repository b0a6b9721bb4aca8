"""The loss is not a number on some ranks alone."""

from __future__ import annotations

import re

from hvdkit.explain.cause import Cause, Level, Match
from hvdkit.explain.log import Log

_LOSS = re.compile(r"\b\w*loss\w*\W{1,3}(?P<value>[-+]?(?:nan|inf)\b|[-+]?\d[\d.e+-]*)", re.IGNORECASE)
_LASTING = 2  # values in a row: one alone may be a batch whose step is skipped


def find(log: Log) -> Match | None:
    """Ranks whose last losses are not numbers, while all others still print numbers."""
    broken: list[tuple[int | None, int, int]] = []
    sound: list[tuple[int | None, int, int]] = []
    for rank, stream in log.streams.items():
        losses = list(stream.all(_LOSS))[-_LASTING:] if rank is not None else []
        if len(losses) == _LASTING:
            bad = [hit for hit in losses if hit.groups["value"].lstrip("+-")[0].isalpha()]
            (broken if len(bad) == _LASTING else sound).append((rank, losses[0].line.number, len(bad)))
    if not broken or not sound or any(count for _, _, count in sound):
        return None
    ranks = ", ".join(str(rank) for rank, _, _ in broken)
    return Match(min(number for _, number, _ in broken), {"who": f"rank {ranks}"})


CAUSE = Cause(
    id="nan_on_one_rank",
    title="the loss is not a number on {who}, and is one on the other ranks",
    why=(
        "Averaged gradients carry a NaN to every rank within one step. If it stays on some ranks, the "
        "weights have diverged: some gradients are not averaged, or the ranks started from different "
        "weights."
    ),
    fix=(
        "HVDKIT_CHECK_SYNC=1 hvdkit run -np 2 python train.py: it stops at the first step "
        "after which the ranks' weights differ; "
        "hvdkit check train.py finds gradients that are not averaged"
    ),
    find=find,
    excerpt="""\
step 3 loss=nan
""",
    level=Level.FOLLOWS,
    general={"who": "RANK"},
    source="https://github.com/horovod/horovod/issues/1737",
)
