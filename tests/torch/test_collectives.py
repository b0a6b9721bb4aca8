"""Every collective of hvdkit.torch by its result, and its gradient: on Horovod, and on torch.distributed.

The numbers are Horovod's. Operations have names: after a rank has waited in join(), Horovod's own differ.
"""

from __future__ import annotations

import time
from typing import Any

import pytest
import torch
from torch import Tensor
from training import gathered

import hvdkit.torch as hvd

pytestmark = pytest.mark.ranks


def own(*rows: Any) -> Tensor:
    """This rank's of some rows."""
    return torch.tensor(rows[hvd.rank()])


def test_integers_are_averaged_and_truncated_towards_zero() -> None:
    mine = own([1, 4, -4], [3, 5, -5])
    before = mine.tolist()
    results = gathered((hvd.allreduce(mine, name="integers").tolist(), mine.tolist() == before))
    assert results == [([2, 4, -4], True)] * 2


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (hvd.Average, [2.0, -1.0]),
        (hvd.Sum, [4.0, -2.0]),
        (hvd.Min, [1.0, -2.0]),
        (hvd.Max, [3.0, 0.0]),
        (hvd.Product, [3.0, 0.0]),
    ],
)
def test_reductions(op: int, expected: list[float]) -> None:
    result = hvd.allreduce(own([1.0, -2.0], [3.0, 0.0]), op=op, name=f"reduction.{op}")
    assert gathered(result.abs().tolist()) == [[abs(value) for value in expected]] * 2


def test_factors_before_and_after() -> None:
    mine = own([1.0], [3.0])
    floats = hvd.allreduce(mine, op=hvd.Sum, prescale_factor=0.5, postscale_factor=3.0, name="factors")
    whole = hvd.allreduce(own([1], [3]), op=hvd.Sum, postscale_factor=0.3, name="factors.whole")
    assert gathered((floats.item(), whole.item())) == [(6.0, 1)] * 2


def test_in_place_and_by_handle() -> None:
    mine = own([1.0, 2.0], [3.0, 4.0])
    same = hvd.allreduce_(mine, name="in place")
    handle = hvd.allreduce_async(mine, op=hvd.Sum, name="by handle")
    while not hvd.poll(handle):
        time.sleep(0.001)
    total = hvd.synchronize(handle)
    again = hvd.synchronize(handle)
    seen = (same is mine, mine.tolist(), total.tolist(), again)
    assert gathered(seen) == [(True, [2.0, 3.0], [4.0, 6.0], None)] * 2


def test_groups() -> None:
    tensors = [own([1.0], [3.0]), own([[1, 2]], [[3, 5]])]
    out = hvd.grouped_allreduce(tensors, name="group")
    hvd.grouped_allreduce_(tensors, op=hvd.Sum, name="group in place")
    seen = [tensor.tolist() for tensor in (*out, *tensors)]
    assert gathered(seen) == [[[2.0], [[2, 3]], [4.0], [[4, 7]]]] * 2


def test_fp16_comes_back_as_it_was() -> None:
    mine = own([1.0, 0.1], [3.0, 0.1])
    result = hvd.allreduce(mine, compression=hvd.Compression.fp16, name="fp16")
    assert result.dtype is torch.float32
    assert gathered(result.tolist()) == [[2.0, torch.tensor(0.1).half().item()]] * 2


def test_rows_may_differ_and_be_none() -> None:
    mine = own([], [[1.5, 2.5], [3.5, 4.5]]).view(-1, 2)
    flags = hvd.allgather(torch.ones(1 + hvd.rank(), dtype=torch.uint8), name="rows.flags")
    everything = hvd.allgather(mine, name="rows")
    seen = (everything.tolist(), flags.tolist())
    assert gathered(seen) == [([[1.5, 2.5], [3.5, 4.5]], [1] * 3)] * 2


def test_other_dimensions_that_differ_are_an_error_on_all_ranks() -> None:
    error = None
    try:
        hvd.allgather(torch.zeros(2, 2 + hvd.rank()), name="dimensions")
    except hvd.HorovodInternalError as caught:
        error = type(caught).__name__
    assert gathered(error) == ["HorovodInternalError"] * 2


def test_broadcast_of_tensors_and_objects() -> None:
    mine = own([1.0], [3.0])
    out = hvd.broadcast(mine, 1, name="broadcast")
    strided = own([[1, 2], [3, 4]], [[5, 6], [7, 8]])
    hvd.broadcast_(strided, 1, name="broadcast in place")
    thing = hvd.broadcast_object({"rank": hvd.rank()}, root_rank=1, name="broadcast object")
    seen = (mine.item(), out.item(), strided.tolist(), thing)
    expected = [[5, 6], [7, 8]], {"rank": 1}
    assert gathered(seen) == [(1.0, 3.0, *expected), (3.0, 3.0, *expected)]


def test_alltoall() -> None:
    equal = hvd.alltoall(own([0, 1], [10, 11]), name="alltoall")
    splits = own([1, 2], [3, 0]).int()
    rows, received = hvd.alltoall(own([0, 1, 2], [10, 11, 12]), splits=splits, name="splits")
    seen = (equal.tolist(), rows.tolist(), received.tolist())
    assert gathered(seen) == [([0, 10], [0, 10, 11, 12], [1, 3]), ([1, 11], [1, 2], [2, 0])]


def test_reducescatter_gives_the_first_ranks_a_row_more() -> None:
    average = hvd.reducescatter(own([0.0, 1.0, 2.0], [2.0, 3.0, 4.0]), name="reducescatter")
    total = hvd.reducescatter(own([0, 1], [2, 3]), op=hvd.Sum, name="reducescatter sum")
    assert gathered((average.tolist(), total.tolist())) == [([1.0, 2.0], [2]), ([3.0], [4])]


def gradient(call: Any) -> list[Any]:
    """The gradients on all ranks of two numbers, where what a rank receives counts rank + 1 times."""
    mine = torch.ones(2, requires_grad=True)
    received = call(mine)
    received.backward(torch.full_like(received, float(hvd.rank() + 1)))
    assert mine.grad is not None
    return gathered(mine.grad.tolist())


# Horovod names the collective of a backward pass after the number of collectives that the process has begun,
# which is each rank's own by now.
@pytest.mark.without_horovod
def test_gradients() -> None:
    """allgather's is the average, where torch.distributed.nn's is the sum."""
    assert gradient(lambda mine: hvd.allreduce(mine, name="gradient.average")) == [[1.5, 1.5]] * 2
    assert gradient(lambda mine: hvd.allreduce(mine, op=hvd.Sum, name="gradient.sum")) == [[3.0, 3.0]] * 2
    assert gradient(lambda mine: hvd.allgather(mine, name="gradient.gather")) == [[1.5, 1.5]] * 2
    assert gradient(lambda mine: hvd.broadcast(mine, 1, name="gradient.send")) == [[0.0, 0.0], [1.5, 1.5]]
    assert gradient(lambda mine: hvd.alltoall(mine, name="gradient.all")) == [[1.0, 2.0]] * 2
    assert gradient(lambda mine: hvd.reducescatter(mine, name="gradient.part")) == [[1.0, 2.0]] * 2


def test_fresh_optimizer_state_takes_a_step_of_zeros() -> None:
    """With weight decay that step changes the weights, in Horovod and so here."""
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([weight], lr=0.1 + hvd.rank(), weight_decay=0.5, momentum=0.9)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    buffer = optimizer.state[weight]["momentum_buffer"].tolist()
    rate = 0.1 + hvd.rank()
    expected = [1 - rate * 0.5] * 2
    assert gathered((optimizer.param_groups[0]["lr"], buffer)) == [(0.1, [0.5, 0.5])] * 2
    assert weight.tolist() == pytest.approx(expected)


def test_parameters_of_a_rank() -> None:
    model = torch.nn.BatchNorm1d(2)
    with torch.no_grad():
        model.weight.fill_(hvd.rank())
        model.num_batches_tracked.fill_(hvd.rank())
    hvd.broadcast_parameters(model.state_dict(), root_rank=1)
    assert gathered((model.weight.tolist(), model.num_batches_tracked.item())) == [([1.0, 1.0], 1)] * 2


@pytest.mark.without_horovod  # after it the ranks have begun different numbers of collectives
def test_a_rank_that_has_joined_counts_as_zero() -> None:
    seen = [
        hvd.allreduce(torch.tensor([2.0]), name=f"step.{step}").item() for step in range(2 + 2 * hvd.rank())
    ]
    last = hvd.join()
    first = hvd.join() if hvd.rank() else [time.sleep(0.3), hvd.join()][1]
    assert gathered((seen, last, first)) == [([2.0, 2.0], 1, 0), ([2.0, 2.0, 1.0, 1.0], 1, 0)]


def test_barrier() -> None:
    time.sleep(0.3 * hvd.rank())
    began = time.monotonic()
    hvd.barrier()
    waited = gathered(time.monotonic() - began)
    assert waited[0] > 0.1
    assert gathered(hvd.allreduce(torch.ones(1), name="after the barrier").item()) == [1.0, 1.0]
