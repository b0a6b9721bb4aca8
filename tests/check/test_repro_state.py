"""On 2 ranks: the bugs of HVD83x to HVD88x happen, and are gone as the rules say."""

from __future__ import annotations

import pickle
from pathlib import Path

import horovod.torch as hvd
import pytest
import torch
from check_ranks import Turns, gathered, loss, net, reduced, same, sgd
from torch.utils.data import DataLoader, DistributedSampler

pytestmark = pytest.mark.ranks


def _step(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    loss(model).backward()
    optimizer.step()


def test_hvd830_a_group_after_the_wrapping() -> None:
    body, head = net(), net(1)
    both = torch.nn.ModuleList([body, head])
    optimizer = hvd.DistributedOptimizer(sgd(body))
    optimizer.add_param_group({"params": list(head.parameters()), "lr": 0.1})
    (loss(body) + loss(head)).backward()
    optimizer.step()
    assert same(body)
    assert not same(head)
    body, head = net(), net(1)
    both = torch.nn.ModuleList([body, head])
    plain = sgd(body)
    plain.add_param_group({"params": list(head.parameters()), "lr": 0.1})
    _step_both = hvd.DistributedOptimizer(plain)
    (loss(body) + loss(head)).backward()
    _step_both.step()
    assert same(both)


def test_hvd831_unfrozen_after_the_wrapping() -> None:
    model = net()
    model.requires_grad_(False)
    optimizer = hvd.DistributedOptimizer(sgd(model))
    model.requires_grad_(True)
    loss(model).backward()
    optimizer.step()
    assert not same(model)
    model = net()
    optimizer = hvd.DistributedOptimizer(sgd(model))
    model.requires_grad_(False)
    model.requires_grad_(True)
    loss(model).backward()
    optimizer.step()
    assert same(model)


def test_hvd832_loaded_before_the_wrapping() -> None:
    model = net()
    optimizer = sgd(model, momentum=0.9)
    _step(model, optimizer)
    saved = optimizer.state_dict()
    loaded = sgd(model, momentum=0.9)
    loaded.load_state_dict(saved)
    wrapped = hvd.DistributedOptimizer(loaded)
    assert gathered(len(wrapped.state_dict()["state"])) == [0, 0]
    wrapped = hvd.DistributedOptimizer(sgd(net(), momentum=0.9))
    wrapped.load_state_dict(saved)
    assert gathered(len(wrapped.state_dict()["state"])) == [2, 2]


def test_hvd833_the_wrapper_is_not_the_one_that_steps(turns: Turns) -> None:
    model = net()
    inner = sgd(model)
    unused = hvd.DistributedOptimizer(inner, model.named_parameters(prefix="hvd833"))
    if hvd.rank() == 1:
        turns.until("stepped")
    loss(model).backward()
    if hvd.rank() == 1:
        reduced(unused)
    inner.step()
    turns.done("stepped")
    unused.synchronize()
    assert not same(model)
    model = net()
    _step(model, hvd.DistributedOptimizer(sgd(model), model.named_parameters(prefix="hvd833")))
    assert same(model)


@pytest.mark.parametrize("parameters_last", [False, True])
def test_hvd834_the_order_on_a_resume(parameters_last: bool) -> None:
    model = net()
    optimizer = hvd.DistributedOptimizer(sgd(model, momentum=0.9, weight_decay=0.5))
    if hvd.rank() == 0:  # what a checkpoint holds
        other = sgd(net(), momentum=0.9, weight_decay=0.5)
        other.param_groups[0]["params"][0].grad = torch.ones(1, 3)
        other.param_groups[0]["params"][1].grad = torch.ones(1)
        other.step()
        optimizer.load_state_dict(other.state_dict())
    if not parameters_last:
        hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    if parameters_last:
        hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    assert same(model) == parameters_last


def test_hvd835_loaded_after_the_broadcast() -> None:
    model = net()
    optimizer = hvd.DistributedOptimizer(sgd(model))
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    if hvd.rank() == 0:
        model.load_state_dict(net(7).state_dict())
    _step(model, optimizer)
    assert not same(model)
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    _step(model, optimizer)
    assert same(model)


def test_hvd836_no_common_first_weights() -> None:
    torch.seed()  # as in a process that has just been started
    model = torch.nn.Linear(3, 1)
    optimizer = hvd.DistributedOptimizer(sgd(model), model.named_parameters())
    _step(model, optimizer)
    assert not same(model)
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    _step(model, optimizer)
    assert same(model)


@pytest.mark.parametrize("sent", [False, True])
def test_hvd837_momenta_on_rank_0_only(sent: bool) -> None:
    model = net()
    optimizer = hvd.DistributedOptimizer(sgd(model, momentum=0.9))
    if hvd.rank() == 0:
        state = {i: {"momentum_buffer": torch.ones_like(p)} for i, p in enumerate(model.parameters())}
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
    if sent:
        hvd.broadcast_optimizer_state(optimizer, root_rank=0)
        hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    _step(model, optimizer)
    assert same(model) == sent


@pytest.mark.parametrize("sent", [False, True])
def test_hvd837_a_schedule_that_goes_on_on_rank_0_only(sent: bool) -> None:
    model = net()
    optimizer = hvd.DistributedOptimizer(sgd(model))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1.0 / (1 + epoch))
    if hvd.rank() == 0:
        schedule.load_state_dict({**schedule.state_dict(), "last_epoch": 5})
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    if sent:
        schedule.load_state_dict(hvd.broadcast_object(schedule.state_dict(), root_rank=0, name="hvd837"))
    _step(model, optimizer)
    schedule.step()
    _step(model, optimizer)
    assert same(model) == sent


@pytest.mark.parametrize("sent", [False, True])
def test_hvd837_scales_that_differ(sent: bool) -> None:
    """Scaled by 2**16 on rank 0 and 2**10 on rank 1, and divided by the same."""
    model = net()
    optimizer = hvd.DistributedOptimizer(sgd(model))
    scale = 2.0 ** (16 if sent or hvd.rank() == 0 else 10)
    (loss(model) * scale).backward()
    optimizer.synchronize()
    for parameter in model.parameters():
        assert parameter.grad is not None
        parameter.grad /= scale
    with optimizer.skip_synchronize():
        optimizer.step()
    assert same(model) == sent


def test_hvd838_the_epoch_is_known_to_rank_0_only() -> None:
    start = 5 if hvd.rank() == 0 else 0
    assert gathered(len(range(start, 10))) == [5, 10]  # rank 0 leaves, and the other waits for it
    start = hvd.broadcast_object(start, root_rank=0, name="hvd838")
    assert gathered(len(range(start, 10))) == [5, 5]


def test_hvd839_a_generator_is_refused() -> None:
    model = net(hvd.rank())
    with pytest.raises(ValueError, match="generator"):
        hvd.broadcast_parameters(model.parameters(), root_rank=0)
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    assert same(model)


def test_hvd840_scaled_twice() -> None:
    once = 0.1 * hvd.size()

    def moved(rate: float) -> float:
        model = net()
        before = model.bias.item()
        _step(model, hvd.DistributedOptimizer(sgd(model, rate), model.named_parameters()))
        return round(before - model.bias.item(), 4)

    assert gathered(moved(once * hvd.size())) == [0.8, 0.8]
    assert gathered(moved(once)) == [0.4, 0.4]


def test_hvd841_a_schedule_that_was_cut_off() -> None:
    def rate(schedule_first: bool) -> float:
        inner = sgd(net())
        schedule = torch.optim.lr_scheduler.StepLR(inner, 1) if schedule_first else None
        optimizer = hvd.DistributedOptimizer(inner)
        schedule = schedule or torch.optim.lr_scheduler.StepLR(optimizer, 1)
        optimizer.load_state_dict(optimizer.state_dict())
        schedule.step()
        return round(float(optimizer.param_groups[0]["lr"]), 4)

    assert gathered(rate(schedule_first=True)) == [0.1, 0.1]
    assert gathered(rate(schedule_first=False)) == [0.01, 0.01]


def test_hvd854_ddp_in_a_horovod_job() -> None:
    with pytest.raises((ValueError, RuntimeError), match="process group"):
        torch.nn.parallel.DistributedDataParallel(net())
    model = net()
    _step(model, hvd.DistributedOptimizer(sgd(model), model.named_parameters()))
    assert same(model)


def test_hvd861_every_rank_writes(turns: Turns) -> None:
    written = turns.folder / "written"
    with written.open("a") as file:  # one line for each write, where torch.save would write over the other's
        file.write("model\n")
    hvd.barrier()
    assert gathered(len(written.read_text().splitlines())) == [2, 2]
    guarded = turns.folder / "guarded"
    if hvd.rank() == 0:
        torch.save(net().state_dict(), guarded)
    hvd.barrier()
    assert all(gathered(len(torch.load(guarded)) == 2))


def test_hvd870_one_share_of_the_data() -> None:
    data = list(range(10))
    sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())  # type: ignore[arg-type]
    correct = sum(1 for _ in DataLoader(data, batch_size=None, sampler=sampler))  # type: ignore[arg-type]
    assert gathered(correct) == [5, 5]
    total = hvd.allreduce(torch.tensor(correct), op=hvd.Sum, name="hvd870")
    assert gathered(int(total)) == [10, 10]


def test_hvd871_join_without_a_broadcast() -> None:
    model = net()
    optimizer = hvd.DistributedOptimizer(sgd(model), model.named_parameters(prefix="hvd871"))
    for _ in range(1 + hvd.rank()):
        _step(model, optimizer)
    last = hvd.join()
    # Named collectives: after join() the ranks no longer count unnamed ones alike.
    weight = hvd.allgather(model.weight.detach().flatten()[None].clone(), name="hvd871.before")
    assert not torch.equal(weight[0], weight[1])
    for name, tensor in model.state_dict().items():
        hvd.broadcast_(tensor, root_rank=last, name=f"hvd871.{name}")
    weight = hvd.allgather(model.weight.detach().flatten()[None].clone(), name="hvd871.after")
    assert torch.equal(weight[0], weight[1])


def test_hvd872_each_rank_its_own_plateau() -> None:
    def rate(reduce: bool) -> float:
        optimizer = hvd.DistributedOptimizer(sgd(net()))
        schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
        for epoch in range(3):
            value = torch.tensor([float(epoch if hvd.rank() == 0 else -epoch)])  # worse here, better there
            if reduce:
                value = hvd.allreduce(value, name="hvd872")
            schedule.step(float(value))
        return round(float(optimizer.param_groups[0]["lr"]), 4)

    apart = gathered(rate(reduce=False))
    assert apart[0] != apart[1]
    together = gathered(rate(reduce=True))
    assert together[0] == together[1]


def test_hvd880_sync_batch_norm_of_torch() -> None:
    """Horovod's own layer, the fix, takes tensors on a GPU only: seen here is that it does not pretend."""
    batch = torch.full((4, 3), float(hvd.rank()))
    layer = torch.nn.SyncBatchNorm(3, momentum=1.0)
    layer(batch)
    assert gathered(float(layer.running_mean[0])) == [0.0, 1.0]  # synchronized it would be 0.5 on both
    with pytest.raises(ValueError, match="GPU"):
        hvd.SyncBatchNorm(3)(batch)


def test_hvd881_predivided_sum() -> None:
    with pytest.raises(ValueError, match="op != Average"):
        hvd.DistributedOptimizer(sgd(net()), op=hvd.Sum, gradient_predivide_factor=2.0)
    model = net()
    _step(model, hvd.DistributedOptimizer(sgd(model), op=hvd.Sum))
    assert same(model)


def test_hvd882_adasum_cannot_skip() -> None:
    optimizer = hvd.DistributedOptimizer(sgd(net()), op=hvd.Adasum)
    with pytest.raises(AssertionError, match="Adasum"):
        with optimizer.skip_synchronize():
            pass
    model = net()
    optimizer = hvd.DistributedOptimizer(sgd(model), op=hvd.Average)
    loss(model).backward()
    optimizer.synchronize()
    with optimizer.skip_synchronize():
        optimizer.step()
    assert same(model)


def test_hvd883_bfloat16() -> None:
    model = net().bfloat16()
    optimizer = hvd.DistributedOptimizer(sgd(model), model.named_parameters())
    with pytest.raises(ValueError, match="BFloat16"):
        model(torch.ones(1, 3, dtype=torch.bfloat16)).sum().backward()
    optimizer._handles.clear()
    model = net()
    optimizer = hvd.DistributedOptimizer(sgd(model), model.named_parameters())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss(model).backward()
    optimizer.step()
    assert same(model)


def test_hvd884_lbfgs() -> None:
    model = net()
    optimizer = hvd.DistributedOptimizer(torch.optim.LBFGS(model.parameters()), model.named_parameters())
    with pytest.raises(ValueError, match="LBFGS"):
        hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    adam = hvd.DistributedOptimizer(torch.optim.Adam(model.parameters()), model.named_parameters())
    hvd.broadcast_optimizer_state(adam, root_rank=0)
    assert same(model)


def test_hvd885_a_pickled_optimizer(tmp_path: Path) -> None:
    model = net()
    optimizer = hvd.DistributedOptimizer(sgd(model))
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
        torch.save({"optimizer": optimizer}, tmp_path / "checkpoint.pt")
    torch.save({"optimizer": optimizer.state_dict()}, tmp_path / "checkpoint.pt")
    assert "param_groups" in torch.load(tmp_path / "checkpoint.pt")["optimizer"]
