"""How far two right runs may be apart, and why.

Two ranks: a + b is b + a in floating point, and halving before or after the sum is exact, so DDP's average
and Horovod's are the same bits. With more ranks the order of the additions is each library's own choice:
each of the n - 1 additions may round the other way, and the next steps carry it on.
"""

from __future__ import annotations

from dataclasses import dataclass

FLOAT32 = 2.0**-23
# How much one step may amplify the rounding of the steps before it (cancellation in the gradient's sum and
# the division by a small second moment in the Adam family).
GROWTH = 64.0


@dataclass(frozen=True)
class Tolerance:
    """first: relative Euclidean difference allowed after step 1, multiplied by the step's number after it."""

    first: float
    reason: str

    def at(self, step: int) -> float:
        """The bound after this step; 0 means bit for bit."""
        return self.first * max(step, 1)


def tolerance_for(world: int, asked: float | None) -> Tolerance:
    """The bound that the arithmetic of an averaged float32 reduction gives, or the one asked for."""
    if asked is not None:
        return Tolerance(asked, f"--tolerance {asked:g}")
    if world <= 2:
        return Tolerance(
            0.0, f"{world} rank{'s' * (world > 1)}: the sum has one order, so every bit must agree"
        )
    bound = 2 * (world - 1) * FLOAT32 * GROWTH
    return Tolerance(
        bound,
        f"{world} ranks: the order of the {world - 1} additions is each library's own; "
        f"2 x {world - 1} roundings of float32 x {GROWTH:g} for growth = {bound:.1e} per step",
    )
