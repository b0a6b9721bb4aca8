"""More backward passes than the optimizer was told."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="backward_passes",
    title="backward() ran more often than backward_passes_per_step before step(){where}",
    why=(
        "Horovod starts reducing a gradient at the backward pass that it was set is the last; "
        "another one would add to a gradient that is already on its way."
    ),
    fix=(
        "hvd.DistributedOptimizer(optimizer, backward_passes_per_step=N) with N the number of "
        "backward() calls before each step(), and step() after a shorter last window too"
    ),
    find=says(
        r"Gradients were computed more than backward_passes_per_step times",
    ),
    excerpt="""\
AssertionError: Gradients were computed more than backward_passes_per_step times before call to  ...
""",
)
