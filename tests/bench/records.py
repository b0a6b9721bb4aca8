"""Records of jobs as ranks send them, with what a test asks for planted in them."""

from __future__ import annotations

from hvdkit.bench.recorded import Recorded


def record(
    computed: list[list[float]], waited: list[list[float]] | None = None, alone: float = 0.0
) -> Recorded:
    """A job of as many ranks as there are lists of steps. It has two gradients of 4 MB."""
    return Recorded(
        hosts=[f"host{rank}" for rank in range(len(computed))],
        device="cpu",
        controller="mpi" if len(computed) > 1 else "",
        threads=1,
        samples=8,
        computed=computed,
        waited=waited or [[0.0] * len(steps) for steps in computed],
        size=8_000_000,
        alone=alone,
        backward=2 / 3 if len(computed) == 1 else 0.0,
        gradients=[(4_000_000, 0.5), (4_000_000, 1.0)] if len(computed) == 1 else [],
    )
