"""By what number the rates of a job differ from its original's: by none, or by the number of its ranks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from hvdkit.verify.hook.twin_record import SCALES


class Scale:
    """What the first steps leave possible, and the same from then on.

    record: the folder of the twins' run. close: by how much rates that are one number may differ, relatively.
    """

    def __init__(self, record: Path, world: int, tells: bool, close: float = 1e-9) -> None:
        self.record, self.world, self.tells, self.close = record, world, tells, close
        # Factors of all rates, and how many of the original's steps a schedule counts for one of the job's.
        self.possible = [(factor, pace) for factor in (1.0, float(world)) for pace in (1, world)]
        self.shares: set[tuple[int, int]] = set()  # samples of a data set, and of a rank's share of it

    def rate_for(self, own: Mapping[int, float], job: float) -> float:
        """The rate that a twin steps at: the job's, where that is right. own: its own, by pace.

        One that is not is the original's, in the job's scale, so that the comparison finds it.
        """
        before = self.possible
        left = [
            (factor, pace) for factor, pace in before if pace in own and self._is(job, own[pace] * factor)
        ]
        if not left:
            factor = before[0][0] if len({factor for factor, _ in before}) == 1 else 1.0
            return own[1] * factor
        self.possible = left
        if left != before:
            self.tell()
        return job

    def tell(self, shares: Iterable[tuple[int, int]] = ()) -> None:
        """Leave what is known, for the comparison."""
        self.shares.update(shares)
        if self.tells:
            told = {"rates": self.possible[0][0], "shares": sorted(self.shares)}
            (self.record / SCALES).write_text(json.dumps(told), encoding="utf-8")

    def _is(self, one: float, other: float) -> bool:
        return abs(one - other) <= self.close * max(abs(one), abs(other))
