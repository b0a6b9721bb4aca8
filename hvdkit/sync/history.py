"""What this process did that may part it from the other ranks. Kept here, judged in `causes`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:  # the launcher judges what ranks send, without torch
    from torch.optim import Optimizer

# Kinds of events that several modules name. LOAD: of a model's or an optimizer's state.
LOAD, LOAD_SCHEDULER, LOAD_SCALER = "load", "load scheduler", "load scaler"
BROADCAST = "broadcast"
REDUCE = "reduce"  # in TensorFlow, where an optimizer does not know of it
SCHEDULER_STEP = "scheduler step"
PHANTOM_STEP = "phantom step"  # as hvdkit.observe.steps tells it


@dataclass
class History:
    """What was seen of one process. watched: whether anybody looked; where not, the rest says nothing.

    counts: how often each kind of event happened. last: a number that grows with each event, by its kind.
    sent: addresses of tensors that were broadcast. skipped: steps that a GradScaler did not take.
    agreed: optimizers whose ranks were compared and found equal.
    """

    watched: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    last: dict[str, int] = field(default_factory=dict)
    sent: set[int] = field(default_factory=set)
    skipped: int = 0
    agreed: WeakSet[Optimizer] = field(default_factory=WeakSet)

    def note(self, what: str) -> None:
        """An event of this kind happened."""
        self.counts[what] += 1
        self.last[what] = sum(self.counts.values())


HISTORY = History()
