"""What ranks hold beside their parameters, on hand-made records."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.observe.records import ADASUM, Event, Run, Step, Tensor
from hvdkit.verify.compare import compare
from hvdkit.verify.differences import Stage
from hvdkit.verify.invariants import check_invariants
from hvdkit.verify.same_state import Apart, states_apart
from hvdkit.verify.tolerance import tolerance_for

NAME = "all ranks hold the same optimizer state, buffers and untrained modules"


def tensor(name: str, value: str) -> Tensor:
    return Tensor(name, (2,), "float32", value, 1.0)


def run(field: str, name: str, *ranks: str, adasum: bool = False, weights: str = "w") -> Run:
    """Ranks with this tensor in this field: a letter is its value at a step, from the start; "-" for none."""

    def step(rank: int, number: int, value: str) -> Step:
        held = {field: (tensor(name, value),)} if value != "-" else {}
        events = (Event(ADASUM),) if adasum else ()
        return Step(
            0, number, (0.1,), (tensor("a", weights + str(rank)[: weights == "own"]),), events=events, **held
        )

    return Run(
        Path(),
        {
            rank: tuple(step(rank, n, value) for n, value in enumerate(values))
            for rank, values in enumerate(ranks)
        },
    )


CASES = {
    "momentum loaded on rank 0": (run("state", "momentum_buffer of a", "ab", "xb"), 0),
    "momentum on rank 0 alone": (run("state", "momentum_buffer of a", "ab", "-b"), 0),
    "moments that part later": (run("state", "exp_avg of a", "-bc", "-bx"), 2),
    "a step count": (run("state", "step of a", "34", "01"), 0),
    "a codebook of each rank's": (run("buffers", "quantizer.codebook", "abc", "axy"), 1),
    "frozen statistics": (run("buffers", "1.running_mean", "aaa", "bbb"), 0),
    "a teacher": (run("untrained", "Teacher[0].a", "tt", "uu"), 0),
    "a running average that drifts": (run("untrained", "Net[0].a", "tab", "tax"), 2),
    "a teacher's buffer": (run("untrained_buffers", "Teacher[0].centre", "tt", "tu"), 1),
    "state under Adasum": (run("state", "momentum_buffer of a", "ab", "xy", adasum=True), None),
    "statistics of each rank's batches": (run("buffers", "1.running_mean", "abc", "axy"), None),
    "statistics of an average": (run("untrained_buffers", "Net[0].1.running_var", "abc", "axy"), None),
    "an average that rank 0 keeps": (run("untrained", "Net[0].a", "abc", "---"), None),
    "weights that differ already": (run("state", "momentum_buffer of a", "ab", "xy", weights="own"), None),
    "all alike": (run("state", "momentum_buffer of a", "abc", "abc"), None),
}


@pytest.mark.parametrize("case", CASES)
def test_ranks(case):
    ranks, step = CASES[case]
    found = list(states_apart(ranks))
    assert [apart.step for apart in found] == ([] if step is None else [step])
    assert all(apart.rank == 1 for apart in found)
    named = {inv.name: inv for inv in check_invariants(ranks, ranks)}
    assert named[NAME].holds is (step is None)
    if step is not None:
        assert found[0].name in named[NAME].detail and "rank 1" in named[NAME].detail


def test_against_an_original_whose_ranks_are_alike():
    original = run("buffers", "codebook", "abc", "abc")
    [found] = compare(original, run("buffers", "codebook", "abc", "axc"), tolerance_for(2, None)).differences
    assert (found.stage, found.step, found.rank) == (Stage.STATE, 1, 1)
    assert found.name == "buffer codebook" and found.original == "the same on every rank"
    apart = run(
        "buffers", "codebook", "abc", "axc"
    )  # DDP sends buffers before each forward, not after a step
    assert compare(apart, apart, tolerance_for(2, None)).agree


def test_each_tensor_is_told_once():
    ranks = run("state", "exp_avg of a", "abc", "xyz")
    assert list(states_apart(ranks)) == [Apart("state", "exp_avg of a", 0, 0, 1)]
