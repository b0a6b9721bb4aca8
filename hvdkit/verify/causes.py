"""From the first difference to what usually causes it, and the rule that says more.

A symptom is read from the records of both runs, never from the code.
"""

from __future__ import annotations

from dataclasses import dataclass

from hvdkit.verify.compare import Comparison


@dataclass(frozen=True)
class Cause:
    """rule: id for `hvdkit explain`. text: one sentence."""

    rule: str
    text: str


def likely_causes(comparison: Comparison) -> tuple[Cause, ...]:
    """What the records speak for; empty when the runs agree or nothing known fits."""
    return ()
