"""The model of a step: what is known of it by hand, and what Horovod has published."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from hvdkit.bench.model import Network, Work, predict, slowest
from hvdkit.bench.outlook import fit_network, fit_work, outlook
from hvdkit.doctor.allreduce import Measured
from tests.bench.records import record

ROOT = Path(__file__).parents[2]
NETWORK = Network(hop=1e-5, fixed=1e-3, bandwidth=1e8)
WORK = Work(computing=0.3, backward=2 / 3, spread=0.0, gradients=[(4_000_000, 0.5), (4_000_000, 1.0)])


@pytest.fixture(scope="module")
def published() -> ModuleType:
    spec = importlib.util.spec_from_file_location("step_model", ROOT / "benchmarks" / "step_model.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["step_model"] = module  # its dataclasses look there
    spec.loader.exec_module(module)
    return module


def test_a_ring_by_hand() -> None:
    # Four ranks: six turns, each of a quarter of the bytes.
    assert NETWORK.exchange(4, 4_000_000) == pytest.approx(1e-3 + 6 * 1e-5 + 6 * 1_000_000 / 1e8)
    assert NETWORK.exchange(1, 4_000_000) == 0.0


def test_one_rank_only_computes() -> None:
    assert predict(WORK, NETWORK, 1).step == pytest.approx(0.3)


def test_the_last_gradient_is_not_hidden() -> None:
    found = predict(WORK, NETWORK, 4, cycle=0.0)
    message = NETWORK.exchange(4, 4_000_000)
    assert found.exchanging == pytest.approx(2 * message)
    assert found.communicating == pytest.approx(message)  # the first ends 0.1 s before the backward pass does


def test_nothing_is_hidden_where_nothing_overlaps() -> None:
    found = predict(replace(WORK, hidden=0.0), NETWORK, 4)
    assert found.communicating == pytest.approx(found.exchanging)


def test_what_is_ready_together_is_one_message_up_to_the_threshold() -> None:
    together = replace(WORK, gradients=[(4_000_000, 1.0), (4_000_000, 1.0)])
    fused = predict(together, NETWORK, 4, cycle=0.0)
    assert fused.exchanging == pytest.approx(NETWORK.exchange(4, 8_000_000))
    apart = predict(together, NETWORK, 4, cycle=0.0, fusion=4_000_000)
    assert apart.exchanging == pytest.approx(2 * NETWORK.exchange(4, 4_000_000))
    # A gradient that is larger than the threshold is sent all the same.
    assert predict(together, NETWORK, 4, cycle=0.0, fusion=1).exchanging == pytest.approx(apart.exchanging)


def test_the_slowest_of_more_ranks_is_slower() -> None:
    assert slowest(1) == 0.0
    assert slowest(2) == pytest.approx(0.564, abs=0.03)  # exactly 1 / sqrt(pi)
    assert slowest(512) == pytest.approx(3.04, abs=0.05)  # tables of normal order statistics
    assert predict(replace(WORK, spread=0.1), NETWORK, 2).waiting == pytest.approx(0.03 * slowest(2))


def test_the_network_that_made_the_measurements_is_found() -> None:
    measured = [
        Measured(size, ranks, NETWORK.exchange(ranks, size), 0.0)
        for ranks in (2, 8)
        for size in (4, 2**20, 2**26)
    ]
    found, known = fit_network(measured)
    assert known
    assert found.hop == pytest.approx(NETWORK.hop, rel=1e-3)
    assert found.fixed == pytest.approx(NETWORK.fixed, rel=1e-3)
    assert found.bandwidth == pytest.approx(NETWORK.bandwidth, rel=1e-3)
    _, known = fit_network(measured[:3])
    assert not known


@pytest.mark.parametrize("hidden", [0.0, 0.5, 1.0])
def test_how_much_is_hidden_is_found(hidden: float) -> None:
    made = predict(replace(WORK, hidden=hidden), NETWORK, 2)
    job = record([[0.3] * 9] * 2, [[made.communicating] * 9] * 2, alone=made.exchanging)
    found = fit_work([job], [record([[0.3] * 9])], NETWORK)
    assert found.hidden == pytest.approx(hidden)
    assert predict(found, NETWORK, 2).step == pytest.approx(made.step)


def test_the_inputs_are_stated() -> None:
    job = record([[0.3] * 9] * 2, [[0.05] * 9] * 2, alone=0.1)
    exchanges = [Measured(size, 2, NETWORK.exchange(2, size), 0.0) for size in (4, 2**26)]
    found = outlook([{"horovod": job, "one": record([[0.25] * 9])}], exchanges, 512)
    assert found.data()["efficiency"] == pytest.approx(0.25 / found.predicted.step)
    assert "assumed: two ranks do not show it" in found.inputs[0]
    assert found.inputs[-1].endswith("which MPI forms for some numbers of ranks and bytes only")


def test_horovods_published_efficiencies(published: ModuleType) -> None:
    assert sum(parameters for parameters, _ in published.vgg16()) == 138_357_544  # as torchvision counts
    for name, model in published.MODELS.items():
        found = published.predicted(model, 512)
        assert found.computing / found.step == pytest.approx(model.efficiency[512], abs=0.10), name
    inception, vgg = (published.predicted(published.MODELS[name], 512) for name in ("Inception V3", "VGG-16"))
    assert vgg.communicating > 5 * inception.communicating
