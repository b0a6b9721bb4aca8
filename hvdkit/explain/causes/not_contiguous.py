"""A tensor that is not contiguous."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="not_contiguous",
    title="a tensor is not contiguous in memory{where}",
    why=("Horovod sends memory as it lies; a transposed, sliced or channels_last tensor lies otherwise."),
    fix=(
        "pass tensor.contiguous(), or import hvdkit.torch as hvd, whose DistributedOptimizer and "
        "broadcast take channels_last"
    ),
    find=says(
        r"ValueError: Tensor is required to be contiguous",
    ),
    excerpt="""\
ValueError: Tensor is required to be contiguous.
""",
)
