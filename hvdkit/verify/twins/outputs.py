"""What a job prints on its first rank and writes on any, against what originals with the same weights do."""

from __future__ import annotations

from collections.abc import Sequence

from hvdkit.verify.differences import Difference, Stage
from hvdkit.verify.twins.files import Side, file_differences
from hvdkit.verify.twins.lines import Line, compare_lines
from hvdkit.verify.twins.numbers import Scales


def output_differences(
    job: Side, originals: Sequence[Side], scales: Scales, tensors: bool = True, alone: Side | None = None
) -> tuple[list[Difference], list[Line]]:
    """What differs; and the lines of the first original that the job prints none of. alone: the original as
    one process."""
    whole = printed_lines(alone) if alone else []
    wrong, missing = compare_lines(
        printed_lines(job), [printed_lines(side) for side in originals], scales, whole
    )
    lines = [
        Difference(
            *(Stage.PRINTED, one.now.step, 0, 0, ""),
            *(one.before.text.strip(), one.now.text.strip()),
            places=(one.before.place, one.now.place),
        )
        for one in wrong
    ]
    return [*lines, *file_differences(job, originals, scales, tensors, alone)], missing


def printed_lines(side: Side) -> list[Line]:
    """By the first rank of a side."""
    return [
        Line(text, step.number, place)
        for step in side.run.steps[side.ranks[0]]
        for text, place in zip(step.printed, step.printed_at)
    ]
