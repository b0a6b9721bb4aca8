"""What usually causes a difference, as it is printed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cause:
    """rule: what `hvdkit explain` says more about. text: one sentence."""

    rule: str
    text: str
