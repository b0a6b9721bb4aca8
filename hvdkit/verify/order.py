"""Calls that are wrong whatever numbers come out: on gradients under way, or on a model that is wrapped."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.observe.records import WRONG_ORDER, Run
from hvdkit.verify.cause import Cause
from hvdkit.verify.invariant import Invariant

NAME = "gradients are reduced once they are there, and used once they are reduced"


def check_order(run: Run) -> Iterator[Invariant]:
    """Of the ranks of one run, without one to compare with: reported where there is such a call."""
    seen = {
        event.what: f"{event.what} ({event.detail}) on rank {rank}, step {step.number}"
        for rank, steps in run.steps.items()
        for step in steps
        for event in step.events
        if event.what in WRONG_ORDER
    }
    for what, detail in seen.items():
        yield Invariant(NAME, False, detail, Cause(*WRONG_ORDER[what]))
