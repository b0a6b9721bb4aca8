"""What each rank knows of itself when the ranks turn out to differ: plain data that travels as JSON."""

from __future__ import annotations

from dataclasses import dataclass

from hvdkit.sync.history import LOAD


@dataclass(frozen=True)
class Evidence:
    """One rank's.

    framework: "torch" or "tensorflow".
    watched: whether events were noted, which HVDKIT_CHECK_SYNC switches on; where not, counts and last are
        empty, unsent too.
    wrapped: the optimizer reduces gradients; None without one. In TensorFlow: something was reduced.
    uncovered: parameters that it trains and does not reduce. unsent: parameters that were never broadcast.
    rates: learning rates. decays: whether there is weight decay. agreed: the ranks were equal at an earlier
        step of this optimizer. seed: of torch. counts, last: of events by kind (see history).
    """

    framework: str
    watched: bool
    wrapped: bool | None
    uncovered: list[str]
    unsent: list[str]
    rates: list[str]
    decays: bool
    agreed: bool
    seed: int
    skipped: int
    counts: dict[str, int]
    last: dict[str, int]

    def loaded_last(self) -> bool:
        """A state was loaded here after the last broadcast."""
        return self.last.get(LOAD, 0) > self.last.get("broadcast", 0)
