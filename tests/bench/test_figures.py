"""What is said of a step, on records with known parts."""

from __future__ import annotations

import pytest

from hvdkit.bench import figures
from hvdkit.bench.blocks import orders, spread
from hvdkit.bench.recorded import find, line
from tests.bench.records import record

# Rank 1 computes 30 ms longer; then both wait 10 ms for averages.
LATE = record([[0.05] * 20, [0.08] * 20], [[0.04] * 20, [0.01] * 20], alone=0.04)


def test_the_parts_of_a_step_add_up() -> None:
    parts = figures.parts_of(LATE)
    assert parts.computing == pytest.approx(0.065)
    assert parts.waiting == pytest.approx(0.015)
    assert parts.communicating == pytest.approx(0.01)
    assert figures.step_of(LATE).median == pytest.approx(0.09)


def test_the_late_rank_is_named() -> None:
    late = figures.late(LATE)
    assert late is not None
    assert (late.rank, late.host, late.often) == (1, "host1", 1.0)
    assert late.behind == pytest.approx(0.03)


@pytest.mark.parametrize(
    "waited",
    [
        [[0.04, 0.01] * 10, [0.01, 0.04] * 10],  # each is late half of the time
        [[0.0101] * 20, [0.01] * 20],  # by a thousandth of a step
    ],
)
def test_no_rank_is_named_where_none_is_late(waited: list[list[float]]) -> None:
    assert figures.late(record([[0.05] * 20, [0.05] * 20], waited)) is None


def test_what_is_hidden_and_the_bus_bandwidth() -> None:
    assert figures.overlap(LATE) == pytest.approx(0.75)
    assert figures.bandwidth(LATE) == pytest.approx(8_000_000 / 0.04)
    assert figures.overlap(record([[0.05]])) is None


def test_efficiency_and_ratio_are_taken_within_a_block() -> None:
    def block(factor: float) -> figures.Block:
        """All of it as much slower."""
        steps = [factor * 0.1] * 10
        return {
            "horovod": record([steps, steps]),
            "ddp": record([[2 * step for step in steps]] * 2),
            "one": record([[0.8 * step for step in steps]]),
        }

    blocks = [block(1.0), block(3.0), block(10.0)]
    assert figures.efficiency(blocks) == pytest.approx((0.8, 0.8, 0.8))
    assert figures.ratio(blocks, "horovod", "ddp") == pytest.approx((0.5, 0.5, 0.5))


def test_the_order_turns() -> None:
    assert [*orders("abc", 4)] == [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"], ["a", "b", "c"]]
    assert spread([2.0]) == (2.0, 2.0, 2.0)


def test_a_record_survives_the_tags_of_mpirun() -> None:
    sent = line(LATE)
    assert find(f"noise\n{sent[:50]}[1,0]<stdout>:{sent[50:]}\nnoise") == LATE
    assert find("noise") is None
