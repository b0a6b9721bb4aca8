"""Lines that a job prints otherwise than one process, which are reported and not judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.observe.records import Run, Step
from hvdkit.verify.twins.remarks import printed_otherwise


def run(*lines: str) -> Run:
    """Ranks that print a line each before their first step; nothing where it is empty."""
    return Run(
        Path(),
        {
            rank: (Step(0, 1, (0.1,), (), printed=(line,), printed_at=("train.py:8",)),)
            if line
            else (Step(0, 1, (0.1,), ()),)
            for rank, line in enumerate(lines)
        },
    )


@pytest.mark.parametrize(
    ("job", "told"),
    [
        (
            ("loss 0.5125 of 20", ""),
            ["rank 0 prints the value of its share alone: 'loss 0.5125 of 20' (train.py:8)"],
        ),
        (("loss 0.5500 of 20", ""), []),  # reduced
        (("loss 0.5500 of 20", "loss 0.5500 of 20"), ["every rank prints 'loss 0.5500 of 20' (train.py:8)"]),
        (("accuracy 0.75", ""), []),  # of another thing
    ],
)
def test_what_is_printed_otherwise(job, told):
    twins = run("loss 0.5125 of 20", "loss 0.5875 of 20")
    found = [*printed_otherwise(twins, run(*job))]
    assert [one[: len(start)] for one, start in zip(found, told)] == told and len(found) == len(told)
