"""On 2 ranks: the bugs of HVD80x to HVD82x happen, and are gone as the rules say (HVD805: as a job)."""

from __future__ import annotations

import random

import horovod.torch as hvd
import numpy
import pytest
import torch
from check_ranks import Turns, gathered, loss, net, reduced, same, sgd
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, DistributedSampler

pytestmark = pytest.mark.ranks


def test_hvd801_a_discarded_result() -> None:
    value = torch.tensor([float(hvd.rank())])
    hvd.allreduce(value, name="hvd801")
    assert gathered(float(value)) == [0.0, 1.0]
    value = hvd.allreduce(value, name="hvd801")
    assert gathered(float(value)) == [0.5, 0.5]


def test_hvd802_integers_are_averaged() -> None:
    correct = torch.tensor([3 + hvd.rank()])
    assert gathered(int(hvd.allreduce(correct, name="hvd802"))) == [3, 3]
    assert gathered(int(hvd.allreduce(correct, name="hvd802", op=hvd.Sum))) == [7, 7]


def test_hvd803_average_is_deprecated() -> None:
    one = torch.ones(1)
    with pytest.warns(DeprecationWarning):
        assert gathered(float(hvd.allreduce(one, name="hvd803", average=False))) == [2.0, 2.0]
    with pytest.raises(ValueError, match="op"):
        hvd.allreduce(one, average=True, op=hvd.Average)
    assert gathered(float(hvd.allreduce(one, name="hvd803", op=hvd.Sum))) == [2.0, 2.0]


def test_hvd804_divided_twice() -> None:
    accuracy = torch.tensor([0.8])
    wrong = hvd.allreduce(accuracy, name="hvd804") / hvd.size()
    right = hvd.allreduce(accuracy, name="hvd804")
    assert gathered(round(float(wrong), 3)) == [0.4, 0.4]
    assert gathered(round(float(right), 3)) == [0.8, 0.8]


def _sampler(data: list[int], **options: bool) -> DistributedSampler[int]:
    return DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), **options)  # type: ignore[arg-type]


def test_hvd810_every_rank_takes_all() -> None:
    data = list(range(8))
    seen = gathered([int(x) for x in DataLoader(data, batch_size=None, shuffle=True)])  # type: ignore[arg-type]
    assert sorted(seen[0]) == sorted(seen[1]) == data
    seen = gathered([int(x) for x in DataLoader(data, batch_size=None, sampler=_sampler(data))])  # type: ignore[arg-type]
    assert sorted(seen[0] + seen[1]) == data


def test_hvd811_the_sampler_asks_torch_distributed() -> None:
    with pytest.raises((ValueError, RuntimeError), match="process group"):
        DistributedSampler([1, 2])  # type: ignore[arg-type]
    assert gathered(len(_sampler([1, 2]))) == [1, 1]


def test_hvd813_every_epoch_in_one_order() -> None:
    sampler = _sampler(list(range(100)))
    assert all(gathered(list(sampler) == list(sampler)))
    first = list(sampler)
    sampler.set_epoch(1)
    assert not any(gathered(list(sampler) == first))


def test_hvd814_shuffle_beside_a_sampler() -> None:
    data = [1, 2]
    with pytest.raises(ValueError, match="shuffle"):
        DataLoader(data, shuffle=True, sampler=_sampler(data))  # type: ignore[arg-type]
    assert len(DataLoader(data, sampler=_sampler(data))) == 1  # type: ignore[arg-type]


def test_hvd815_each_rank_splits_its_own_way() -> None:
    numpy.random.seed()  # as in a process that has just been started
    data = list(range(1000))
    held_back = gathered(train_test_split(data, test_size=0.2)[1])
    assert held_back[0] != held_back[1]
    held_back = gathered(train_test_split(data, test_size=0.2, random_state=0)[1])
    assert held_back[0] == held_back[1]


def test_hvd815_shares_of_an_order_of_its_own() -> None:
    def drawn(generator: random.Random) -> list[int]:
        files = list(range(1000))
        generator.shuffle(files)
        return files[hvd.rank() :: hvd.size()]

    assert len({file for share in gathered(drawn(random.Random())) for file in share}) < 1000
    assert len({file for share in gathered(drawn(random.Random(0))) for file in share}) == 1000


def test_hvd816_the_batch_grows_with_the_square() -> None:
    data = list(range(64))
    wrong = DataLoader(data, batch_size=4 * hvd.size(), sampler=_sampler(data))  # type: ignore[arg-type]
    right = DataLoader(data, batch_size=4, sampler=_sampler(data))  # type: ignore[arg-type]
    assert sum(gathered(len(next(iter(wrong))))) == 4 * hvd.size() ** 2
    assert sum(gathered(len(next(iter(right))))) == 4 * hvd.size()


def test_hvd820_not_wrapped() -> None:
    model = net()
    optimizer: torch.optim.Optimizer = sgd(model)
    loss(model).backward()
    optimizer.step()
    assert not same(model)
    model = net()
    optimizer = hvd.DistributedOptimizer(sgd(model), model.named_parameters())
    loss(model).backward()
    optimizer.step()
    assert same(model)


def test_hvd822_wrapped_twice() -> None:
    optimizer = hvd.DistributedOptimizer(sgd(net()))
    with pytest.raises(TypeError):
        hvd.DistributedOptimizer(optimizer)
    assert gathered(type(optimizer).__name__) == ["SGD", "SGD"]


def test_hvd823_clipped_in_flight(turns: Turns) -> None:
    model = net()
    optimizer = hvd.DistributedOptimizer(sgd(model), model.named_parameters(prefix="hvd823"))
    if hvd.rank() == 0:
        loss(model).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # its own gradient
        turns.done("clipped")
    else:
        turns.until("clipped")
        loss(model).backward()
        reduced(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # the average
    optimizer.step()
    assert not same(model)
    model = net()
    optimizer = hvd.DistributedOptimizer(sgd(model), model.named_parameters(prefix="hvd823"))
    loss(model).backward()
    optimizer.synchronize()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    with optimizer.skip_synchronize():
        optimizer.step()
    assert same(model)
    assert len(set(gathered(round(float(norm), 4)))) == 1


def test_hvd824_one_rank_overflows(turns: Turns) -> None:
    model = net()
    optimizer = hvd.DistributedOptimizer(sgd(model), model.named_parameters(prefix="hvd824"))
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0)
    if hvd.rank() == 0:
        scaler.scale(loss(model)).backward()
        scaler.unscale_(optimizer)  # looks for infinities, as step() does first, and finds none
        turns.done("looked")
    else:
        turns.until("looked")
        scaler.scale(loss(model, float("inf"))).backward()
    scaler.step(optimizer)
    raised = False
    try:
        optimizer.zero_grad()
    except AssertionError:
        raised = True
        optimizer.synchronize()
    assert gathered(raised) == [False, True]
    assert gathered(_finite(model)) == [False, True]
    model = net()
    optimizer = hvd.DistributedOptimizer(sgd(model), model.named_parameters(prefix="hvd824"))
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0)
    scaler.scale(loss(model, float("inf") if hvd.rank() == 1 else 1.0)).backward()
    optimizer.synchronize()
    with optimizer.skip_synchronize():
        scaler.step(optimizer)
    optimizer.zero_grad()
    assert gathered(_finite(model)) == [True, True]
    assert same(model)


def _finite(model: torch.nn.Module) -> bool:
    return all(bool(p.isfinite().all()) for p in model.parameters())


def test_hvd825_reduced_twice() -> None:
    def moved(skip: bool) -> float:
        model = net()
        before = model.bias.item()
        optimizer = hvd.DistributedOptimizer(sgd(model, 1.0), model.named_parameters(), op=hvd.Sum)
        loss(model).backward()
        optimizer.synchronize()
        if skip:
            with optimizer.skip_synchronize():
                optimizer.step()
        else:
            with pytest.warns(UserWarning, match="skip_synchronize"):
                optimizer.step()
        return round(before - model.bias.item(), 4)

    assert gathered(moved(skip=False)) == [8.0, 8.0]
    assert gathered(moved(skip=True)) == [4.0, 4.0]


def test_hvd826_not_waited_for(turns: Turns) -> None:
    model = net()
    optimizer = hvd.DistributedOptimizer(sgd(model), model.named_parameters(prefix="hvd826"))
    if hvd.rank() == 1:
        turns.until("stepped")
    loss(model).backward()
    if hvd.rank() == 1:
        reduced(optimizer)
    with optimizer.skip_synchronize():
        optimizer.step()
    turns.done("stepped")
    optimizer.synchronize()
    assert not same(model)
    model = net()
    optimizer = hvd.DistributedOptimizer(sgd(model), model.named_parameters(prefix="hvd826"))
    loss(model).backward()
    optimizer.synchronize()
    with optimizer.skip_synchronize():
        optimizer.step()
    assert same(model)


def test_hvd827_zeroed_before_the_step() -> None:
    model = net()
    optimizer = hvd.DistributedOptimizer(sgd(model), model.named_parameters())
    loss(model).backward()
    with pytest.raises(AssertionError, match="race condition"):
        optimizer.zero_grad()
    optimizer.step()
    optimizer.zero_grad()
    assert same(model)


def test_hvd828_two_backward_passes() -> None:
    model = net()
    optimizer = hvd.DistributedOptimizer(sgd(model), model.named_parameters())
    loss(model).backward()
    with pytest.raises(AssertionError, match="backward_passes_per_step"):
        loss(model).backward()
    optimizer.synchronize()
    model = net()
    optimizer = hvd.DistributedOptimizer(sgd(model), model.named_parameters(), backward_passes_per_step=2)
    loss(model).backward()
    loss(model).backward()
    optimizer.step()
    assert same(model)


def test_hvd829_zero_grad_takes_no_argument() -> None:
    optimizer = hvd.DistributedOptimizer(sgd(net()))
    with pytest.raises(TypeError, match="set_to_none"):
        optimizer.zero_grad(set_to_none=True)
    optimizer.zero_grad()
