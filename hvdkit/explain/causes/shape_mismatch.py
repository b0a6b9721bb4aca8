"""Ranks sent tensors of different shapes."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="shape_mismatch",
    title="the ranks sent tensors of different shapes to one {what}",
    why=(
        "{detail} Every rank has to send the same shape (an allgather may differ in the first "
        "dimension only): a last batch that is smaller on one rank, or models that were built "
        "differently."
    ),
    fix=(
        "drop_last=True in the DataLoader or hvd.allgather for tensors whose first dimension "
        "differs; build the same model on all ranks"
    ),
    find=says(
        r"Mismatched (?P<what>\w+) tensor shapes: (?P<detail>.*)",
    ),
    excerpt="""\
RuntimeError: Mismatched ALLREDUCE tensor shapes: One rank sent a tensor of shape [5], but anoth ...
During handling of the above exception, another exception occurred:
""",
    general={"what": "collective"},
)
