"""How far two right runs may be apart, and why.

Two ranks: a + b is b + a in floating point, and halving before or after the sum is exact, so DDP's
average and Horovod's are the same bits; but not of subnormal numbers (below 2**-126 in float32), which
have no bit for the half: there each rank's division may be one unit of 2**-149 away. More ranks: both
runs sum in float64 (hook.float64), where the order of the additions is lost in the rounding to float32.
"""

from __future__ import annotations

from dataclasses import dataclass

UNIT = 2.0**-149  # between the subnormal numbers of float32


@dataclass(frozen=True)
class Tolerance:
    """relative: Euclidean norm of a difference over that of the original; 0 means bit for bit. absolute: what
    no single value may be further apart than, whatever the norms: the rounding of subnormal numbers."""

    relative: float
    reason: str
    absolute: float = 0.0

    def covers(self, largest: float | None, relative: float | None) -> bool:
        """Whether two right runs may be so far apart. None: there is no such number."""
        if largest is not None and largest <= self.absolute:
            return True
        return relative is not None and relative <= self.relative


def tolerance_for(world: int, asked: float | None) -> Tolerance:
    """The bar for a number of ranks, or the one asked for."""
    if asked is not None:
        return Tolerance(asked, f"--tolerance {asked:g}")
    if world == 1:
        return Tolerance(0.0, "1 rank: nothing is reduced, so every bit must agree")
    rounding = world * UNIT
    if world == 2:
        return Tolerance(0.0, "2 ranks: the sum has one order, so every bit must agree", rounding)
    return Tolerance(
        0.0,
        f"{world} ranks: both runs sum gradients in float64, which hides the order of the additions, "
        "so every bit must agree",
        rounding,
    )
