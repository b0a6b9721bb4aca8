"""Right migrations agree bit for bit: what `hvdkit migrate` writes, under Gloo and MPI, and by hand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hvdkit.cli import main
from hvdkit.verify.scene import Request
from hvdkit.verify.session import verify
from hvdkit.verify.shapes import together

pytestmark = pytest.mark.launch

NAMES = (
    *("plain", "convnet", "amp", "accumulate", "gan", "local_rank", "cuda", "averaged", "hooked", "offset"),
    "seeded",
)


# The original counts its ranks by their host, which migrate reports as open: right on one host alone.
ON_ONE_HOST = {"offset": together(2)}
BY_HAND = ("plain", "convnet", "accumulate", "gan", "local_rank")  # those that test_differ.py makes wrong


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(stage, name):
    result = stage(name).migrated()
    assert result.comparison.differences == ()
    assert result.comparison.identical
    assert {number for _, _, number in result.comparison.compared} == {0, 1, 2, 3, 4, 5}
    assert {rank for rank, _, _ in result.comparison.compared} == {0, 1}


@pytest.mark.parametrize("controller", ["gloo", "mpi"])
@pytest.mark.parametrize("name", NAMES)
def test_what_migrate_writes(stage, name, controller, monkeypatch):
    """The whole promise: the original rewritten by `hvdkit migrate`, and nothing by hand."""
    here = stage(name).here
    monkeypatch.chdir(here)
    sources = [path.name for path in here.glob("*.py") if not path.name.startswith("migrated")]
    assert main(["migrate", *sources, "--output", "by_migrate"]) in (0, 1)
    script = here / "by_migrate" / "original.py"
    result = stage(name).compared(script, controller=controller, hosts=ON_ONE_HOST.get(name))
    assert result.comparison.differences == ()
    assert result.comparison.identical


def test_what_mpi4py_knows_is_right_under_mpi(stage, monkeypatch):
    """It stays in the script, which is reported: under Gloo each process is rank 0 of 1 for it."""
    here = stage("mpi").here
    monkeypatch.chdir(here)
    assert main(["migrate", "original.py", "--output", "by_migrate"]) == 1
    result = stage("mpi").compared(here / "by_migrate" / "original.py", controller="mpi")
    assert result.comparison.differences == ()
    assert result.comparison.identical


def test_bit_for_bit_on_three_ranks(stage, monkeypatch):
    """In float32 BatchNorm's bias and Adam would show the order of the additions."""
    monkeypatch.chdir(stage("convnet").here)
    request = Request(Path("original.py"), Path("migrated.py"), world=3, steps=3)
    result = verify(request, lambda line: print(line, file=sys.stderr))
    assert result.comparison.identical and len(result.comparison.original.steps) == 3


def test_what_is_recorded(stage):
    """The comparison is not empty: every kind of record has content, different on each rank."""
    run = stage("convnet").original
    first = run.steps[0][1]
    assert [tensor.name for tensor in first.parameters][:2] == ["0.weight", "0.bias"]
    assert len(first.gradients) == len(first.parameters) == 6
    assert {tensor.name for tensor in first.buffers} == {
        "1.running_mean",
        "1.running_var",
        "1.num_batches_tracked",
    }
    assert first.rates == (0.01,) and run.steps[0][-1].rates == (0.005,)
    drawn = [{index for draw in run.steps[rank][1].draws for index in draw.indices} for rank in (0, 1)]
    assert drawn[0] != drawn[1]
    assert first.losses != run.steps[1][1].losses
    assert first.batches and first.batches != run.steps[1][1].batches
    assert first.gradients == run.steps[1][1].gradients, "reduced before they are recorded"


def test_files_are_seen_and_the_folder_is_left_alone(stage):
    plain = stage("plain")
    assert plain.original.steps[0][4].writes == ("model.pt",)
    assert all(step.writes == () for step in plain.original.steps[1])
    assert not (plain.here / "model.pt").exists()
