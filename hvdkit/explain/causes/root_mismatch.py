"""Ranks named different root ranks."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="root_mismatch",
    title="the ranks named different root ranks in one broadcast",
    why="{detail} root_rank= says who sends; all ranks must name the same one.",
    fix="root_rank=0 on all ranks, never root_rank=hvd.rank()",
    find=says(
        r"Mismatched (?:\w+ )?root ranks: (?P<detail>.*)",
    ),
    excerpt="""\
RuntimeError: Mismatched BROADCAST root ranks: One rank specified root rank 0, but another rank  ...
During handling of the above exception, another exception occurred:
""",
)
