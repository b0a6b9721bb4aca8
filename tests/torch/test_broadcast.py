"""broadcast(): everything a model and an optimizer hold arrives, whatever its dtype and layout."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from training import equal_on_all_ranks, gathered, loss_of, mlp, raised, values

import hvdkit.torch as hvd
from hvdkit.torch.broadcast import DifferentModelError

pytestmark = pytest.mark.ranks

DTYPES = [
    torch.bool,
    torch.uint8,
    torch.int16,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float64,
    torch.complex64,
    torch.float8_e4m3fn,
]


class Everything(nn.Module):
    """One of each thing that Horovod's broadcast_parameters does not take, and some that it does."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.weight = nn.Parameter(torch.randn(3, 4).t())  # not contiguous
        self.conv = nn.Conv2d(3, 4, 2).to(memory_format=torch.channels_last)
        self.half = nn.Linear(3, 2).bfloat16()
        self.frozen = nn.Parameter(torch.randn(2), requires_grad=False)
        self.norm = nn.BatchNorm1d(3)
        for dtype in DTYPES:
            buffer = torch.randint(0, 2, (5,)).to(dtype)
            self.register_buffer(str(dtype).replace(".", "_"), buffer)
        self.register_buffer("scalar", torch.tensor(float(seed)))
        self.register_buffer("empty", torch.empty(0, 3))
        self.register_buffer("strided", torch.randn(6, 6)[::2, ::3])
        self.register_buffer("local", torch.randn(2), persistent=False)
        self.extra: dict[str, Any] = {"seed": seed, "history": [torch.full((2,), float(seed)), "text"]}

    def get_extra_state(self) -> dict[str, Any]:
        return self.extra

    def set_extra_state(self, state: dict[str, Any]) -> None:
        self.extra = state


def contents(module: nn.Module) -> list[Any]:
    tensors = [*module.named_parameters(), *module.named_buffers()]
    return [(name, str(t.dtype), t.stride(), t.detach().to(torch.complex128).tolist()) for name, t in tensors]


@pytest.mark.parametrize("root_rank", [0, 1])
def test_everything_arrives(root_rank: int) -> None:
    module = Everything(seed=hvd.rank())
    places = [tensor.data_ptr() for tensor in module.parameters()]
    differed = not equal_on_all_ranks(contents(module))
    returned = hvd.broadcast(module, root_rank=root_rank)
    assert differed and returned is None
    assert contents(module) == contents(Everything(seed=root_rank))
    assert places == [tensor.data_ptr() for tensor in module.parameters()], "an optimizer holds these"
    assert repr(module.extra) == repr(Everything(seed=root_rank).extra)
    assert gathered(module.extra["seed"]) == [root_rank] * hvd.size()


def test_several_models_and_a_compiled_one() -> None:
    a, b = mlp(hvd.rank()), mlp(10 + hvd.rank())
    # Compiled on one rank only: the names are those of the model itself.
    hvd.broadcast({"a": torch.compile(a) if hvd.rank() == 0 else a, "b": b})
    assert values(a) == values(mlp(0)) and values(b) == values(mlp(10))
    hvd.broadcast([b, a], root_rank=1)
    assert equal_on_all_ranks(values(a) + values(b))


def test_optimizer_alone_and_on_each_rank_other_state() -> None:
    model = mlp()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1 * (1 + hvd.rank()))
    if hvd.rank() == 1:  # state that rank 0 does not have goes away
        loss_of(model, 0).backward()
        optimizer.step()
    hvd.broadcast(optimizer=optimizer)
    assert gathered((len(optimizer.state), optimizer.param_groups[0]["lr"])) == [(0, 0.1)] * hvd.size()


def test_state_in_other_dtypes_than_the_parameters() -> None:
    """load_state_dict casts state to the parameter's dtype: on the root rank as well, or ranks part."""
    model = mlp().bfloat16()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if hvd.rank() == 0:
        for parameter in model.parameters():
            optimizer.state[parameter]["master"] = torch.full_like(parameter, 1 / 3, dtype=torch.float32)
    hvd.broadcast(model, optimizer)
    states = [(str(s["master"].dtype), s["master"].double().tolist()) for s in optimizer.state.values()]
    assert len(states) == 4
    assert equal_on_all_ranks(states)


def test_sparse_momentum() -> None:
    torch.manual_seed(0)
    model = nn.EmbeddingBag(10, 3, sparse=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    if hvd.rank() == 0:
        model(torch.tensor([[1, 2]])).sum().backward()
        optimizer.step()
    hvd.broadcast(model, optimizer)
    buffer = optimizer.state[model.weight]["momentum_buffer"]
    assert buffer.is_sparse and buffer.to_dense()[1].tolist() == [0.5, 0.5, 0.5]
    assert equal_on_all_ranks(buffer.to_dense().tolist())


def test_group_settings_that_are_tensors() -> None:
    model = mlp()
    rate = torch.tensor(0.1 * (1 + hvd.rank()))
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, capturable=False, foreach=False)
    hvd.broadcast(model, optimizer)
    assert gathered(float(optimizer.param_groups[0]["lr"])) == [pytest.approx(0.1)] * hvd.size()


@pytest.mark.parametrize("what", ["shape", "dtype", "number", "optimizer", "groups"])
def test_different_models_are_refused_on_all_ranks(what: str) -> None:
    model, optimizer_class, parts = mlp(), torch.optim.SGD, 1
    if hvd.rank() == 1:
        if what == "shape":
            model[2] = nn.Linear(8, 2)
        elif what == "dtype":
            model[2].double()
        elif what == "number":
            model.append(nn.Linear(1, 1))
        elif what == "optimizer":
            optimizer_class = torch.optim.Adam
        else:
            parts = 2
    half = len(list(model.parameters())) // parts
    parameters = list(model.parameters())
    groups = [{"params": parameters[:half]}, {"params": parameters[half:]}][:parts]
    optimizer = optimizer_class(groups, lr=0.1)
    before = copy.deepcopy(values(model))
    errors = gathered(raised(lambda: hvd.broadcast(model, optimizer)))
    assert [type(error) for error in errors] == [DifferentModelError] * hvd.size()
    assert "1 ranks differ" in errors[0].seen and errors[1].seen.startswith("rank 1: ")
    assert values(model) == before


@pytest.fixture(name="rank_one")
def _rank_one() -> Iterator[hvd.ProcessSet]:
    alone = hvd.add_process_set([1])
    yield alone
    hvd.barrier()
    hvd.remove_process_set(alone)


@pytest.mark.horovod
def test_process_set(rank_one: Any) -> None:
    model = mlp(hvd.rank())
    if rank_one.included():
        hvd.broadcast(model, torch.optim.Adam(model.parameters()), root_rank=1, process_set=rank_one)
    assert gathered(values(model)) == [values(mlp(0)), values(mlp(1))]


def test_tensor_is_horovods_own() -> None:
    mine: Tensor = torch.tensor([float(hvd.rank())])
    # Named: after collectives of some ranks only, Horovod's automatic names differ between ranks.
    results = [
        hvd.broadcast(mine, 1, "by-position", hvd.global_process_set),
        hvd.broadcast(mine, root_rank=1, name="by-keyword"),
        hvd.broadcast(tensor=mine, root_rank=1, name="all-by-keyword"),
    ]
    assert gathered([result.item() for result in results]) == [[1.0] * 3] * hvd.size()
    assert mine.item() == hvd.rank()
