"""DistributedOptimizer: what it keeps, what it covers, and that ranks stay bit for bit equal."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Callable

import horovod.torch
import pytest
import torch
from torch import Tensor, nn
from training import batch, conv_net, equal_on_all_ranks, gathered, loss_of, mlp, raised, values

import hvdkit.torch as hvd
from hvdkit.errors import UsageError
from hvdkit.torch.guards import AlreadyDistributedError

pytestmark = pytest.mark.ranks


def sgd(model: nn.Module, **kwargs: Any) -> torch.optim.SGD:
    return torch.optim.SGD(model.parameters(), lr=0.1, **kwargs)


def train(model: nn.Module, optimizer: Any, steps: range = range(3)) -> None:
    for step in steps:
        optimizer.zero_grad()
        loss_of(model, step).backward()
        optimizer.step()


def train_by_hand(model: nn.Module, steps: range = range(3)) -> None:
    """What `train` does, with each gradient averaged by a collective that the script calls itself."""
    optimizer = sgd(model)
    for step in steps:
        optimizer.zero_grad()
        loss_of(model, step).backward()
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None
            hvd.allreduce_(parameter.grad, name=f"by hand.{name}")
        optimizer.step()


# What wrapping keeps.


def test_state_hooks_schedulers_and_groups_survive() -> None:
    model = mlp()
    optimizer = torch.optim.AdamW(
        [{"params": model[0].parameters(), "lr": 0.5}, {"params": model[2].parameters()}], lr=0.1
    )
    steps: list[str] = []
    optimizer.register_step_pre_hook(lambda *_: steps.append("pre"))
    optimizer.register_step_post_hook(lambda *_: steps.append("post"))
    torch.manual_seed(0)
    model(torch.randn(4, 6)).sum().backward()
    optimizer.step()
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a scheduler that finds another step() warns
        wrapped = hvd.DistributedOptimizer(optimizer, model)
        later = torch.optim.lr_scheduler.ExponentialLR(optimizer, 1.0)
        train(model, wrapped)
        scheduler.step()
        later.step()
    assert wrapped is optimizer and isinstance(wrapped, torch.optim.AdamW)
    assert {int(state["step"]) for state in wrapped.state.values()} == {4}
    assert steps == ["pre", "post"] * 4
    assert [group["lr"] for group in wrapped.param_groups] == [0.25, 0.05]
    assert equal_on_all_ranks(values(model))


def test_pre_hook_sees_reduced_gradients() -> None:
    model = mlp()
    seen: list[Any] = []
    optimizer = sgd(model)
    optimizer.register_step_pre_hook(lambda *_: seen.append([p.grad.tolist() for p in model.parameters()]))
    train(model, hvd.DistributedOptimizer(optimizer, model))
    assert len(seen) == 3 and equal_on_all_ranks(seen)


def test_resume_after_wrapping_keeps_the_scheduler_attached() -> None:
    model = mlp()
    optimizer = sgd(model, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    hvd.DistributedOptimizer(optimizer, model)
    train(model, optimizer)
    optimizer.load_state_dict(optimizer.state_dict())
    scheduler.step()
    train(model, optimizer)
    assert optimizer.param_groups[0]["lr"] == 0.05
    assert equal_on_all_ranks(values(model))


def test_optimizer_that_needs_arguments() -> None:
    class Needy(torch.optim.SGD):
        def __init__(self, params: Any, *, rate: float) -> None:
            super().__init__(params, lr=rate)

    model = mlp()
    train(model, hvd.DistributedOptimizer(Needy(model.parameters(), rate=0.1), model))
    assert equal_on_all_ranks(values(model))


# How it may be called.


@pytest.mark.parametrize(
    "wrap",
    [
        lambda o, m: hvd.DistributedOptimizer(o),
        lambda o, m: hvd.DistributedOptimizer(o, m),
        lambda o, m: hvd.DistributedOptimizer(o, [m[0], m[2]]),
        lambda o, m: hvd.DistributedOptimizer(o, {"first": m[0], "last": m[2]}),
        lambda o, m: hvd.DistributedOptimizer(o, m.named_parameters()),
        lambda o, m: hvd.DistributedOptimizer(o, named_parameters=m.named_parameters()),
        lambda o, m: hvd.DistributedOptimizer(o, m.named_parameters(), hvd.Compression.none, 1, hvd.Average),
        lambda o, m: hvd.DistributedOptimizer(o, m, gradient_predivide_factor=2.0),
        lambda o, m: hvd.DistributedOptimizer(o, m, groups=2),
        lambda o, m: hvd.DistributedOptimizer(o, m, num_groups=1),
        lambda o, m: hvd.DistributedOptimizer(o, m, groups=[list(m[0].parameters())]),
    ],
)
def test_every_way_to_call_it_averages(wrap: Callable[..., Any]) -> None:
    ours, theirs = mlp(), mlp()
    train(ours, wrap(sgd(ours), ours))
    train_by_hand(theirs)
    assert gathered(values(ours)) == gathered(values(theirs))


def test_sum() -> None:
    model = mlp()
    before = values(model)
    # Before the wrapping: a wrapped optimizer writes what all ranks made into .grad while backward() runs.
    own = torch.autograd.grad(loss_of(model, 0), list(model.parameters()))
    local = gathered([gradient.double().flatten().tolist() for gradient in own])
    optimizer = hvd.DistributedOptimizer(sgd(model), model, op=hvd.Sum)
    loss_of(model, 0).backward()
    optimizer.step()
    for old, new, *gradients in zip(before, values(model), *local):
        total = torch.tensor(gradients).sum(0)
        assert torch.allclose(torch.tensor(old) - 0.1 * total, torch.tensor(new), atol=1e-6)


@pytest.mark.parametrize(
    "arguments",
    [
        {"backward_passes_per_step": 2, "batches_per_allreduce": 3},
        {"batches_per_allreduce": 0},
        {"use_adasum": True, "op": 1},
        {"gradient_predivide_factor": 2.0, "groups": 2},
        {"gradient_predivide_factor": 2.0, "op": 1},
        {"named_parameters": []},
        {"fp16_allreduce": True, "compression": object()},
    ],
)
def test_contradictions(arguments: dict[str, Any]) -> None:
    model = mlp()
    with pytest.raises(UsageError):
        hvd.DistributedOptimizer(sgd(model), model, **arguments)


def test_failed_wrapping_leaves_the_optimizer_alone() -> None:
    model = mlp()
    optimizer = sgd(model)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    with pytest.raises(ValueError):
        hvd.DistributedOptimizer(optimizer, model, groups=[["no tensor"]])
    assert type(optimizer) is torch.optim.SGD
    optimizer.step()
    scheduler.step()
    train(model, hvd.DistributedOptimizer(optimizer, model))
    assert equal_on_all_ranks(values(model))


def test_compiled_model_has_plain_names() -> None:
    model = mlp()
    compiled = torch.compile(model, backend="aot_eager")
    optimizer = hvd.DistributedOptimizer(sgd(model), compiled)
    names = set(optimizer._parameter_names.values())
    train(compiled, optimizer)
    assert names == {"0.weight", "0.bias", "2.weight", "2.bias"}
    assert equal_on_all_ranks(values(model))


# What is reduced.


@pytest.mark.parametrize("compression", ["none", "fp16"])
@pytest.mark.parametrize("layout", ["channels_last", "bfloat16", "both"])
def test_any_layout_and_dtype(layout: str, compression: str) -> None:
    model = conv_net()
    if layout != "channels_last":
        model.bfloat16()
    if layout != "bfloat16":
        model.to(memory_format=torch.channels_last)
    optimizer = hvd.DistributedOptimizer(sgd(model), model, fp16_allreduce=compression == "fp16")
    start = values(model)
    dtypes = []
    for step in range(3):
        optimizer.zero_grad()
        images = batch(step, 2, 3, 8, 8).to(next(model.parameters()).dtype)
        model(images).square().mean().backward()
        optimizer.step()
        dtypes += [parameter.grad.dtype == parameter.dtype for parameter in model.parameters()]
    assert all(dtypes)
    assert start != values(model)
    assert equal_on_all_ranks(values(model))


@pytest.mark.parametrize("arguments", [{}, {"groups": 2}, {"fp16_allreduce": True}])
def test_complex_parameters_as_pairs_of_real_numbers(arguments: dict[str, Any]) -> None:
    """One of them unfrozen after the wrap, one without a gradient on rank 1, which groups do not allow."""
    torch.manual_seed(hvd.rank())
    model = nn.ModuleList(nn.Linear(3, 2, bias=False, dtype=torch.cfloat) for _ in range(3))
    model[1].requires_grad_(False)
    optimizer = hvd.DistributedOptimizer(torch.optim.Adam(model.parameters(), lr=0.1), model, **arguments)
    hvd.broadcast(model, optimizer)
    model[1].requires_grad_(True)
    lacking = 0 if "groups" in arguments else hvd.rank()
    sums = []
    for step in range(3):
        optimizer.zero_grad()
        x = torch.complex(batch(step, 4, 3), batch(step + 9, 4, 3))
        loss = sum(part(x).abs().square().mean() for part in list(model)[: 3 - lacking])
        (local,) = torch.autograd.grad(loss, [model[0].weight], retain_graph=True)
        loss.backward()
        optimizer.synchronize()
        sums.append((pairs(local), pairs(model[0].weight.grad)))
        optimizer.step()
    for of_ranks in zip(*gathered(sums)):
        locals_, averages = zip(*of_ranks)
        expected = [sum(values) / hvd.size() for values in zip(*locals_)]
        assert all(average == pytest.approx(expected, rel=1e-2, abs=1e-3) for average in averages)
    assert equal_on_all_ranks([pairs(parameter) for parameter in model.parameters()])
    hvd.check_sync(model, optimizer)


def pairs(tensor: Tensor) -> list[float]:
    return torch.view_as_real(tensor.detach()).flatten().tolist()


@pytest.mark.horovod
def test_fp16_is_what_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[torch.dtype] = []
    reduce = horovod.torch.optimizer.allreduce_async_

    def watching(tensor: Tensor, **kwargs: Any) -> Any:
        sent.append(tensor.dtype)
        return reduce(tensor, **kwargs)

    monkeypatch.setattr(horovod.torch.optimizer, "allreduce_async_", watching)
    ours, theirs = mlp(), mlp()
    train(ours, hvd.DistributedOptimizer(sgd(ours), ours, fp16_allreduce=True))
    named = theirs.named_parameters(prefix="theirs")
    train(
        theirs,
        horovod.torch.DistributedOptimizer(sgd(theirs), named, compression=hvd.Compression.fp16),
    )
    assert set(sent) == {torch.float16}
    assert gathered(values(ours)) == gathered(values(theirs))


@pytest.mark.parametrize("arguments", [{}, {"sparse_as_dense": True}, {"fp16_allreduce": True}])
def test_sparse_gradients(arguments: dict[str, Any]) -> None:
    torch.manual_seed(0)
    model = nn.EmbeddingBag(10, 3, sparse=True)
    optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.5), model, **arguments)
    start = values(model)
    for step in range(3):
        optimizer.zero_grad()
        model(torch.tensor([[hvd.rank(), step + 2]])).sum().backward()
        optimizer.step()
    assert start != values(model)
    assert equal_on_all_ranks(values(model))


def test_parameter_unused_on_one_rank() -> None:
    model = mlp()
    head = nn.Linear(1, 1)
    hvd.broadcast(head)
    optimizer = hvd.DistributedOptimizer(
        torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.1), {"body": model, "head": head}
    )
    start = values(head)
    for step in range(3):
        optimizer.zero_grad()
        out = model(batch(step))
        (head(out) if hvd.rank() == 0 else out).square().mean().backward()
        optimizer.step()
    assert start != values(head)
    assert equal_on_all_ranks(values(model) + values(head))


@pytest.mark.parametrize("groups", [None, 2])
def test_unfrozen_later_and_frozen_later(groups: int | None) -> None:
    model = mlp()
    model[0].requires_grad_(False)
    optimizer = hvd.DistributedOptimizer(
        torch.optim.AdamW(model.parameters(), lr=0.1, weight_decay=0.5), model, groups=groups
    )
    train(model, optimizer)
    frozen = values(model[0]) == values(mlp()[0])
    model[0].requires_grad_(True)
    train(model, optimizer)
    trained = values(model[0])
    model[0].requires_grad_(False)
    train(model, optimizer)
    assert frozen, "no gradient, no weight decay"
    assert trained != values(mlp()[0])
    assert trained == values(model[0])
    assert equal_on_all_ranks(values(model))


@pytest.mark.parametrize("groups", [None, 2])
def test_group_added_later(groups: int | None) -> None:
    model, head = mlp(), nn.Linear(1, 1)
    hvd.broadcast(head)
    start = values(head)
    optimizer = hvd.DistributedOptimizer(sgd(model), model, groups=groups)
    train(model, optimizer)
    with torch.no_grad():
        optimizer.add_param_group({"params": head.parameters(), "lr": 0.25})
    train(nn.Sequential(model, head), optimizer)
    assert optimizer.param_groups[1]["lr"] == 0.25
    assert optimizer.param_groups[1]["momentum"] == optimizer.param_groups[0]["momentum"]
    assert start != values(head)
    assert equal_on_all_ranks(values(model) + values(head))


def test_group_that_another_optimizer_reduces_is_not_added() -> None:
    model, head = mlp(), nn.Linear(1, 1)
    first = hvd.DistributedOptimizer(sgd(head), head)
    second = hvd.DistributedOptimizer(sgd(model), model)
    with pytest.raises(AlreadyDistributedError):
        second.add_param_group({"params": head.parameters()})
    assert len(second.param_groups) == 1
    assert len(first.param_groups) == 1


# Several optimizers.


@pytest.mark.parametrize("freeze", [True, False])
def test_generator_and_discriminator(freeze: bool) -> None:
    """Same parameter names, and the generator's loss goes through the discriminator."""
    generator, discriminator = nn.Linear(6, 6), nn.Linear(6, 1)
    hvd.broadcast([generator, discriminator])
    start = values(generator) + values(discriminator)
    g = hvd.DistributedOptimizer(torch.optim.Adam(generator.parameters()), generator)
    d = hvd.DistributedOptimizer(torch.optim.Adam(discriminator.parameters()), discriminator)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for step in range(3):
            d.zero_grad()
            fake = generator(batch(step)).detach()
            (discriminator(batch(step)).square() + (discriminator(fake) - 1).square()).mean().backward()
            d.step()
            g.zero_grad()
            discriminator.requires_grad_(not freeze)
            discriminator(generator(batch(step))).mean().backward()
            discriminator.requires_grad_(True)
            g.step()
    assert any("discards" in str(warning.message) for warning in caught) != freeze
    assert all(a != b for a, b in zip(start, values(generator) + values(discriminator)))
    assert equal_on_all_ranks(values(generator) + values(discriminator))


def test_unwrap_frees_the_parameters() -> None:
    model = mlp()
    first = hvd.DistributedOptimizer(sgd(model, momentum=0.9), model)
    train(model, first)
    loss_of(model, 9).backward()
    early = raised(lambda: hvd.unwrap(first))
    first.step()
    buffers = [state["momentum_buffer"].tolist() for state in first.state.values()]
    assert hvd.unwrap(first) is first
    assert type(first) is torch.optim.SGD
    assert [state["momentum_buffer"].tolist() for state in first.state.values()] == buffers
    second = hvd.DistributedOptimizer(torch.optim.Adam(model.parameters()), model)
    train(model, second)
    assert gathered(type(early).__name__) == ["UnreducedGradientsError"] * hvd.size()
    assert equal_on_all_ranks(values(model))


def test_forgotten_optimizer_frees_the_parameters() -> None:
    model = mlp()

    def phase() -> None:
        train(model, hvd.DistributedOptimizer(sgd(model), model))

    phase()
    phase()
    assert equal_on_all_ranks(values(model))


# Closures.


@pytest.mark.parametrize("line_search", [None, "strong_wolfe"])
def test_lbfgs_takes_one_path_on_all_ranks(line_search: str | None) -> None:
    model = mlp()
    optimizer = hvd.DistributedOptimizer(
        torch.optim.LBFGS(model.parameters(), max_iter=6, line_search_fn=line_search), model
    )
    evaluations = 0

    def closure() -> Tensor:
        nonlocal evaluations
        evaluations += 1
        optimizer.zero_grad()
        loss = loss_of(model, 0)
        loss.backward()
        return loss

    losses = [float(optimizer.step(closure)) for _ in range(3)]
    seen = gathered((losses, evaluations))
    assert seen == [seen[0]] * hvd.size()
    assert evaluations > 3
    assert losses[-1] < losses[0]
    assert equal_on_all_ranks(values(model))


@pytest.mark.parametrize("kind", ["tensor", "float", "none"])
def test_closure_of_any_optimizer(kind: str) -> None:
    ours, theirs = mlp(), mlp()
    optimizer = hvd.DistributedOptimizer(sgd(ours), ours)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = loss_of(ours, 0)
        loss.backward()
        return {"tensor": loss, "float": loss.item(), "none": None}[kind]

    result = optimizer.step(closure)
    train(theirs, hvd.DistributedOptimizer(sgd(theirs), theirs), range(1))
    losses = gathered(loss_of(mlp(), 0).item())
    assert gathered(values(ours)) == gathered(values(theirs))
    assert {"tensor": isinstance(result, Tensor), "float": type(result) is float, "none": result is None}[
        kind
    ]
    if result is not None:
        assert float(result) == pytest.approx(sum(losses) / hvd.size())


# Some ranks only, and ranks that run out of data.


@pytest.fixture(name="rank_zero")
def _rank_zero() -> Iterator[hvd.ProcessSet]:
    alone = hvd.add_process_set([0])
    yield alone
    hvd.barrier()
    hvd.remove_process_set(alone)


@pytest.mark.horovod
def test_process_set(rank_zero: Any) -> None:
    inside, outside = mlp(), mlp()
    everyone = mlp()
    train(inside, hvd.DistributedOptimizer(sgd(inside), inside, process_set=rank_zero))
    train(outside, sgd(outside))
    train(everyone, hvd.DistributedOptimizer(sgd(everyone), everyone))
    assert gathered(values(inside)) == gathered(values(outside)), "a set of one rank averages with nobody"
    assert equal_on_all_ranks(values(everyone))
    assert not equal_on_all_ranks(values(inside))


@pytest.mark.parametrize("make", [sgd, lambda m: torch.optim.AdamW(m.parameters(), lr=0.1)])
def test_uneven_data_with_join(make: Callable[[nn.Module], Any]) -> None:
    model = mlp()
    optimizer = hvd.DistributedOptimizer(make(model), model)
    train(model, optimizer, range(2 + 2 * hvd.rank()))
    last = hvd.join()
    parted = not equal_on_all_ranks(values(model))
    hvd.broadcast(model, optimizer, root_rank=last)
    again = equal_on_all_ranks(values(model))
    train(model, optimizer)
    assert parted, "join alone left the ranks equal: this test shows nothing"
    assert again
    assert gathered(last) == [1] * hvd.size()
    assert equal_on_all_ranks(values(model))
