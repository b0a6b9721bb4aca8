"""Checkpoints: whole or not at all, equal ranks after a resume, and an error on one is an error on all."""

from __future__ import annotations

import os
import resource
import signal
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import SGD, AdamW, Optimizer
from torch.optim.lr_scheduler import StepLR

import hvdkit.torch as hvd

pytestmark = pytest.mark.ranks


class Training:
    """A small training job; each rank starts from weights of its own."""

    def __init__(self, wrap: Callable[[nn.Module], nn.Module] = lambda model: model) -> None:
        torch.manual_seed(hvd.rank())
        self.model = wrap(nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Linear(3, 2)))
        optimizer: Optimizer = AdamW(self.model.parameters(), lr=0.1, weight_decay=0.1)
        self.optimizer = hvd.DistributedOptimizer(optimizer, self.model)
        self.scheduler = StepLR(self.optimizer, step_size=1, gamma=0.5)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**4)

    @property
    def objects(self) -> dict[str, Any]:
        return vars(self)

    def step(self) -> None:
        self.optimizer.zero_grad()
        x = torch.randn(8, 4, generator=torch.Generator().manual_seed(hvd.rank()))
        self.scaler.scale(self.model(x).square().mean()).backward()
        hvd.scaler_step(self.scaler, self.optimizer)
        self.scaler.update()
        self.scheduler.step()

    def state(self) -> dict[str, Any]:
        return {name: value.state_dict() for name, value in self.objects.items()}


def equal(a: Any, b: Any) -> bool:
    """Bit equality of nested states."""
    if isinstance(a, torch.Tensor):
        return isinstance(b, torch.Tensor) and a.dtype == b.dtype and torch.equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(equal, a, b))
    return bool(a == b)


def everywhere(value: Any) -> list[Any]:
    """What each rank has: gathered first, so that all ranks assert the same and none is left waiting."""
    return list(hvd.allgather_object(value, name="everywhere"))


def error_of(work: Callable[[], Any]) -> list[str]:
    """The error that each rank gets from the same call."""
    text = ""
    try:
        work()
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
    return everywhere(text)


def on_root(work: Callable[[], Any]) -> None:
    """Run something on rank 0 and let the others see what it did."""
    if hvd.rank() == 0:
        work()
    hvd.barrier()


def test_a_resumed_job_goes_on_as_if_it_had_not_stopped(shared_path: Path) -> None:
    path = shared_path / "checkpoint.pt"
    first = Training()
    hvd.broadcast(first.model, first.optimizer)
    first.step()
    hvd.save(path, **first.objects, epoch=3, best={"loss": 0.5})
    saved = everywhere(first.state())[0]
    first.step()

    second = Training()
    rest = hvd.resume(path, **second.objects)
    resumed = everywhere((rest, second.state()))
    second.step()
    hvd.check_sync(second.model, second.optimizer)
    after = everywhere((first.state(), second.state()))

    for rest, state in resumed:
        assert rest == {"epoch": 3, "best": {"loss": 0.5}}
        assert equal(state, saved)
    went_on, restarted = after[0]
    assert equal(went_on["optimizer"], restarted["optimizer"])
    assert equal(went_on["model"], restarted["model"])
    assert went_on["scheduler"]["last_epoch"] == restarted["scheduler"]["last_epoch"] == 2


def test_only_rank_0_needs_the_file(tmp_path: Path) -> None:
    own = tmp_path / str(hvd.rank())
    own.mkdir()
    model = nn.Linear(2, 1)
    hvd.save(own / "model.pt", model=model, epoch=torch.tensor(1))
    files = everywhere([file.name for file in own.iterdir()])
    rest = hvd.resume(own / "model.pt", model=model)
    results = everywhere((rest, model.state_dict()))
    assert files == [["model.pt"], []], "one file, nothing temporary, and none on another rank"
    assert equal(*results)


def test_several_models_and_optimizers(shared_path: Path) -> None:
    def build() -> dict[str, Any]:
        g, d = nn.Linear(2, 2), nn.Linear(2, 1)
        return {"g": g, "d": d, "og": SGD(g.parameters(), lr=0.1), "od": AdamW(d.parameters())}

    hvd.save(shared_path / "gan.pt", **build())
    resumed = build()
    hvd.resume(shared_path / "gan.pt", **resumed)
    zero, one = everywhere({name: value.state_dict() for name, value in resumed.items()})
    assert equal(zero, one)


@pytest.mark.parametrize("alone", [True, False], ids=["a state dict", "in a dict"])
def test_prefixes_of_ddp_and_compile_are_understood(shared_path: Path, alone: bool) -> None:
    path = shared_path / "ddp.pt"
    state = {f"module._orig_mod.{name}": value for name, value in Training().model.state_dict().items()}
    on_root(lambda: torch.save(state if alone else {"model": state, "arch": "small"}, path))
    plain, compiled = Training().model, torch.compile(Training().model, backend="eager")
    for model in (plain, compiled):
        hvd.resume(path, model=model)
    names = {name.replace("_orig_mod.", "") for name in compiled.state_dict()}
    results = everywhere((list(plain.state_dict().values()), list(compiled.state_dict().values())))
    reference = everywhere(list(state.values()))[0]
    assert names == set(plain.state_dict())
    for result in results:
        assert all(equal(values, reference) for values in result)


def test_a_module_named_module_keeps_its_name(shared_path: Path) -> None:
    model = nn.Linear(1, 1)
    model.add_module("module", nn.Linear(1, 1))
    saved = {name: value.clone() for name, value in model.state_dict().items()}
    hvd.save(shared_path / "model.pt", model=model)
    nn.init.zeros_(model.weight)
    hvd.resume(shared_path / "model.pt", model=model)
    results = everywhere((saved, model.state_dict()))
    for _, state in results:
        assert list(state) == ["weight", "bias", "module.weight", "module.bias"]
        assert equal(state, results[0][0])


def corrupt(kind: str, path: Path) -> None:
    """A file that is no checkpoint, written by rank 0."""
    if kind == "truncated":
        torch.save({"model": nn.Linear(9, 9).state_dict()}, path)
        path.write_bytes(path.read_bytes()[:-200])
    elif kind == "text":
        path.write_text("not a checkpoint")
    elif kind == "empty":
        path.touch()
    elif kind == "a list":
        torch.save([1, 2], path)
    elif kind == "objects":
        torch.save({"model": nn.Linear(1, 1)}, path)


@pytest.mark.parametrize("kind", ["missing", "truncated", "text", "empty", "a list", "objects"])
def test_a_file_that_cannot_be_read_is_an_error_on_all_ranks(shared_path: Path, kind: str) -> None:
    path = shared_path / "broken.pt"
    on_root(lambda: corrupt(kind, path))
    model = nn.Linear(9, 9)
    before = model.weight.clone()
    zero, one = error_of(lambda: hvd.resume(path, model=model))
    unchanged = everywhere(equal(model.weight.data, before.data))
    assert zero.startswith("CheckpointReadError: ")
    assert str(path) in zero
    assert one.startswith("FailedElsewhereError: resume failed on rank 0: CheckpointReadError: ")
    assert unchanged == [True, True]
    assert ("weights_only=False" in zero) or kind == "a list"


def test_objects_are_read_when_asked_for(shared_path: Path) -> None:
    path = shared_path / "objects.pt"
    model = nn.Linear(1, 1)
    hvd.save(path, model=model, when=Path("today"))
    refused = error_of(lambda: hvd.resume(path, model=model))
    assert everywhere(hvd.resume(path, weights_only=False, model=model)) == [{"when": Path("today")}] * 2
    assert all(refused)


@pytest.mark.parametrize(
    ("objects", "seen"),
    [
        ({"model": nn.Linear(2, 5)}, "entry 'model' of"),
        (
            {"model": nn.Linear(2, 2), "scheduler": nn.Linear(1, 1)},
            "has no entry 'scheduler'; it has 'model'",
        ),
        ({"model": nn.Linear(2, 2), "optimizer": SGD(nn.Linear(2, 2).parameters())}, "entry 'optimizer' of"),
    ],
    ids=["shape", "no entry", "parameter groups"],
)
def test_what_does_not_fit_is_an_error_on_all_ranks(
    shared_path: Path, objects: dict[str, Any], seen: str
) -> None:
    path = shared_path / "other.pt"
    other = nn.Linear(2, 2)
    optimizer = SGD([{"params": [other.weight]}, {"params": [other.bias]}])
    hvd.save(path, model=other, optimizer=optimizer)
    zero, one = error_of(lambda: hvd.resume(path, **objects))
    assert zero.startswith("CheckpointMismatchError: ")
    assert seen in zero
    assert one.startswith("FailedElsewhereError: ")
    assert seen in one


def test_what_cannot_be_loaded_into_is_refused_at_once(shared_path: Path) -> None:
    errors = error_of(lambda: hvd.resume(shared_path / "none.pt", epoch=0))
    assert [error.splitlines()[0] for error in errors] == [
        "UsageError: epoch= is a int, which has no load_state_dict"
    ] * 2


@contextmanager
def disk_full(limit: int = 1000) -> Iterator[None]:
    """No file of this process may grow beyond `limit` bytes: writing fails half way, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_failed_write_is_an_error_on_all_ranks_and_the_old_file_stays(shared_path: Path) -> None:
    path = shared_path / "checkpoint.pt"
    hvd.save(path, epoch=1)
    with disk_full():
        zero, one = error_of(lambda: hvd.save(path, model=nn.Linear(100, 100), epoch=2))
    rest = everywhere(hvd.resume(path))
    files = everywhere([file.name for file in shared_path.iterdir()])
    assert zero.startswith("CheckpointWriteError: cannot write ")
    assert one.startswith("FailedElsewhereError: save failed on rank 0: CheckpointWriteError: ")
    assert rest == [{"epoch": 1}] * 2
    assert files == [["checkpoint.pt"]] * 2, "the half-written file is gone"


def test_who_reads_the_old_file_reads_it_whole(shared_path: Path) -> None:
    path = shared_path / "checkpoint.pt"
    hvd.save(path, epoch=1)
    with path.open("rb") as reader:
        before = path.read_bytes()
        hvd.barrier()  # rank 0 writes when both have it open
        hvd.save(path, epoch=2)
        read = everywhere(reader.read() == before)
    assert read == [True, True]


@pytest.mark.parametrize("where", ["missing/checkpoint.pt", "file/checkpoint.pt"])
def test_a_place_that_cannot_be_written_is_an_error_on_all_ranks(shared_path: Path, where: str) -> None:
    on_root((shared_path / "file").touch)
    zero, one = error_of(lambda: hvd.save(shared_path / where, epoch=1))
    assert zero.startswith("CheckpointWriteError: cannot write ")
    assert "FailedElsewhereError" in one


def test_permissions_and_links_stay(shared_path: Path) -> None:
    link, target = shared_path / "latest.pt", shared_path / "first.pt"

    def prepare() -> None:
        target.touch()
        target.chmod(0o640)
        link.symlink_to(target)

    on_root(prepare)
    hvd.save(link, epoch=1)
    hvd.save(shared_path / "new.pt", epoch=1)
    umask = os.umask(0)
    os.umask(umask)
    modes = [stat.S_IMODE(file.stat().st_mode) for file in (target, shared_path / "new.pt")]
    assert everywhere((link.is_symlink(), modes)) == [(True, [0o640, 0o666 & ~umask])] * 2
