"""Ranks asked for different reductions."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="reduction_mismatch",
    title="the ranks asked for different reductions of one tensor",
    why="{detail} op=, prescale_factor= and postscale_factor= must be the same on all ranks.",
    fix="pass the same op= on all ranks, computed from nothing that differs between them",
    find=says(
        r"Mismatched (?:reduce|reduction) op\w*: (?P<detail>.*)",
        r"Mismatched (?P<detail>prescale.*|postscale.*)",
    ),
    excerpt="""\
RuntimeError: Mismatched reduction operation: One rank sent reduction op 4, but another rank sen ...
During handling of the above exception, another exception occurred:
""",
)
