"""Ranks sent tensors of different types."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="dtype_mismatch",
    title="the ranks sent tensors of different types",
    why="{detail} One rank runs another branch of the code, or autocast on one rank alone.",
    fix=("convert on all ranks before the call, as in hvd.allreduce(tensor.float(), name=...)"),
    find=says(
        r"Mismatched data types: (?P<detail>.*)",
    ),
    excerpt="""\
RuntimeError: Mismatched data types: One rank had type float32, but another rank had type float64.
During handling of the above exception, another exception occurred:
""",
)
