"""Compression to float16 and Adasum: right migrations agree bit for bit, wrong ones are caught as before."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import pytest
import torch

from hvdkit.observe.records import ADASUM_OFF
from hvdkit.verify.differences import Stage
from hvdkit.verify.hook.adasum import _hold, combine
from hvdkit.verify.scene import Request
from hvdkit.verify.session import verify

BROADCAST = "    hvd.broadcast_parameters(model.state_dict(), root_rank=0)\n"
NAMED = "named_parameters=model.named_parameters()"
FLOAT16 = {NAMED: f"{NAMED}, compression=hvd.Compression.fp16"}
ADASUM = {NAMED: f"{NAMED}, op=hvd.Adasum"}
KINDS = {
    "float16-gloo": (FLOAT16, "gloo"),
    "float16-mpi": (FLOAT16, "mpi"),
    "Adasum": (ADASUM, "mpi"),  # which Gloo does not have
    "Adasum of float16": ({NAMED: f"{NAMED}, compression=hvd.Compression.fp16, op=hvd.Adasum"}, "mpi"),
}
WRONG = {
    "no broadcast": ({BROADCAST: ""}, Stage.PARAMETER, "is not broadcast"),
    "learning rate scaled": ({"lr=0.1": "lr=0.1 * hvd.size()"}, Stage.RATE, "multiplied by the 2"),
}


@pytest.mark.launch
@pytest.mark.parametrize("kind", KINDS)
def test_right(stage, kind):
    edits, controller = KINDS[kind]
    plain = stage("plain")
    result = plain.migrated(edits, controller)
    assert result.comparison.differences == ()
    assert result.comparison.identical
    assert result.comparison.original.steps[0][5].parameters != plain.original.steps[0][5].parameters
    assert any(kind.split()[0].partition("-")[0] in note for note in result.notes), result.notes


@pytest.mark.launch
@pytest.mark.parametrize("kind", ["float16-gloo", "Adasum"])
@pytest.mark.parametrize("mistake", WRONG)
def test_wrong(stage, kind, mistake):
    edits, controller = KINDS[kind]
    wrong, where, words = WRONG[mistake]
    result = stage("plain").migrated({**edits, **wrong}, controller)
    assert result.comparison.differences[0].stage is where
    assert any(words in cause.text for cause in result.causes), result.causes


@pytest.mark.launch
def test_an_original_that_compresses(stage, tmp_path, monkeypatch):
    """torch's hook divides before it sums, which loses bits of gradients as small as these."""
    small = {"F.cross_entropy(model(inputs), labels)": "F.cross_entropy(model(inputs), labels) * 1e-3"}
    wrap = "model = DistributedDataParallel(model)\n"
    hook = (
        "    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook\n"
        "    model.register_comm_hook(None, fp16_compress_hook)\n"
    )
    monkeypatch.chdir(tmp_path)
    original = (stage("plain").here / "original.py").read_text()
    for old, new in {**small, wrap: wrap + hook}.items():
        assert old in original
        original = original.replace(old, new)
    Path("original.py").write_text(original)
    Path("migrated.py").write_text(stage("plain").edited({**small, **FLOAT16}).read_text())
    result = verify(
        Request(Path("original.py"), Path("migrated.py")), lambda line: print(line, file=sys.stderr)
    )
    assert result.holds and result.comparison.identical


@pytest.mark.launch
def test_an_original_that_averages_itself_and_does_not_compress(tmp_path, monkeypatch):
    """Its average cannot be made to round as Horovod does: the migrated sends what it has."""
    scripts = Path(__file__).parents[2] / "benchmarks" / "migrations" / "byhand"
    monkeypatch.chdir(tmp_path)
    Path("original.py").write_text((scripts / "original.py").read_text())
    migrated = (scripts / "right_wrapped.py").read_text()
    assert NAMED in migrated
    Path("migrated.py").write_text(migrated.replace(NAMED, FLOAT16[NAMED]))
    result = verify(
        Request(Path("original.py"), Path("migrated.py"), steps=3), lambda line: print(line, file=sys.stderr)
    )
    assert result.holds and result.comparison.identical
    assert any("send them as they are" in note for note in result.notes), result.notes


def exactly(a: list[float], b: list[float]) -> list[Fraction]:
    """Adasum of two updates without rounding."""
    one, other = ([Fraction(number) for number in side] for side in (a, b))
    dot = sum(x * y for x, y in zip(one, other))
    factors = [1 - dot / (2 * sum(x * x for x in side)) for side in (one, other)]
    return [factors[0] * x + factors[1] * y for x, y in zip(one, other)]


@pytest.mark.parametrize("kind", [torch.float32, torch.float16])
def test_closed_form(kind):
    generator = torch.Generator().manual_seed(3)
    updates = torch.randn(2, 40, generator=generator).to(kind)
    updates[1] += 0.5 * updates[0]
    value, bound = combine(updates)
    exact = exactly(*updates.tolist())
    for got, right, off in zip(value.tolist(), exact, bound.tolist()):
        assert abs(Fraction(got) - right) <= Fraction(off)
    assert float((bound / value.abs()).max()) < 4 * torch.finfo(kind).eps, (
        "a bound that lets mistakes through"
    )


def test_what_adasum_is_for():
    orthogonal = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    assert combine(orthogonal).value.tolist() == [1.0, 2.0]
    assert combine(torch.ones(4, 3)).value.tolist() == [1.0, 1.0, 1.0]
    assert combine(torch.tensor([[0.0, 0.0], [0.5, 2.0]])).value.tolist() == [0.5, 2.0]


class Heard:
    def __init__(self):
        self.events = []


@pytest.mark.parametrize(("units", "told"), [(0, False), (1, False), (3, True)])
def test_a_result_beyond_rounding_is_told(units, told):
    closed = combine(torch.tensor([[1.0, 2.0, 3.0], [2.0, -1.0, 0.5]]))
    recorder, result = Heard(), closed.value.float()
    for _ in range(units):  # in the last place
        result = torch.nextafter(result, torch.full_like(result, torch.inf))
    _hold(recorder, "weight", result, closed)
    assert [event.what for event in recorder.events] == [ADASUM_OFF] * told
    assert torch.equal(result.double(), closed.value), "training goes on from the closed form"
