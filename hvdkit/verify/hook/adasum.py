"""Adasum: Horovod's result beside the closed form, and the closed form in the place of DDP's average.

Two updates a and b become (1 - a.b / 2 a.a) a + (1 - a.b / 2 b.b) b; with more ranks neighbours are
combined first, then pairs of pairs (Maleki et al., Scaling Distributed Training with Adaptive Summation,
2020). Horovod's CPU operation computes dot products, factors and sum in float64 and rounds once for each
pair. Another order of the additions in a dot product can move that rounding by a unit in the last place and
no further. In the migrated run each result is compared with this bound and training goes on from the closed
form, as it does in the original: so no rounding is carried to the next step, and every bit of the rest must
agree.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from hvdkit.observe.records import ADASUM, ADASUM_OFF, Event
from hvdkit.observe.steps import inside_a_step
from hvdkit.verify.hook.recorder import Recorder
from hvdkit.verify.hook.settings import Settings

SMALLEST = torch.finfo(torch.float64).tiny ** 0.5  # squared norms below are taken for zero, as Horovod does


class Combined(NamedTuple):
    """A combination of updates, rounded to their type but held in float64, and how far off another may be."""

    value: torch.Tensor
    bound: torch.Tensor


def combine(updates: torch.Tensor) -> Combined:
    """Adasum of the ranks' updates: shape (ranks, n), ranks a power of two -> (n,).

    The bound holds for any order of additions, by element.
    """
    level = [Combined(update.double(), torch.zeros(update.numel())) for update in updates]
    while len(level) > 1:
        level = [_pair(one, other, updates.dtype) for one, other in zip(level[::2], level[1::2])]
    return level[0]


def _pair(one: Combined, other: Combined, kind: torch.dtype) -> Combined:
    (a, off_a), (b, off_b) = one, other
    dot, square_a, square_b = a @ b, a @ a, b @ b
    factor_a = 1.0 - dot / square_a * 0.5 if square_a >= SMALLEST else torch.ones(())
    factor_b = 1.0 - dot / square_b * 0.5 if square_b >= SMALLEST else torch.ones(())
    value = (factor_a * a + factor_b * b).to(kind).double()
    # n products are summed: at most n roundings of float64 in either dot product (Higham 2002, section 3.1);
    # an input that is off by a share of its norm moves a factor by twice that.
    share = sum(off.norm() / whole.norm() for whole, off in (one[:2], other[:2]) if whole.norm() > 0)
    loose = (a.numel() + 4) * torch.finfo(torch.float64).eps + 2 * share
    ratio = a.norm() / b.norm() if a.norm() > 0 and b.norm() > 0 else torch.ones(())
    moved = (factor_a.abs() + 1 / ratio) * a.abs() + (factor_b.abs() + ratio) * b.abs()
    unit = torch.finfo(kind).eps * value.abs() + torch.finfo(kind).smallest_normal * torch.finfo(kind).eps
    return Combined(value, unit + loose * moved + factor_a.abs() * off_a + factor_b.abs() * off_b)


def check_adasum(recorder: Recorder) -> None:
    """In the migrated: hold each result of Horovod's against its bound, then take the closed form."""
    import horovod.torch.optimizer as module
    from horovod.torch import mpi_ops

    send, wait = module.allreduce_async_, module.synchronize
    gathered: dict[int, tuple[int, str]] = {}

    @functools.wraps(send)
    def allreduce_async_(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> int:
        if kwargs.get("op") != mpi_ops.Adasum:
            return int(send(tensor, *args, **kwargs))
        recorder.note_once(ADASUM)
        name = kwargs["name"]
        # Asked for before either is waited for: ranks may wait in different orders.
        updates = mpi_ops.allgather_async(tensor.detach().reshape(1, -1).clone(), f"closed form of {name}")
        handle = int(send(tensor, *args, **kwargs))
        gathered[handle] = updates, name
        return handle

    @functools.wraps(wait)
    def synchronize(handle: int) -> torch.Tensor:
        result: torch.Tensor = wait(handle)
        if handle in gathered:
            updates, name = gathered.pop(handle)
            _hold(recorder, name, result, combine(wait(updates)))
        return result

    module.allreduce_async_, module.synchronize = allreduce_async_, synchronize


def _hold(recorder: Recorder, name: str, result: torch.Tensor, closed: Combined) -> None:
    flat = result.detach().reshape(-1).double()
    apart = (flat - closed.value).abs()
    fine = (apart <= closed.bound) | (flat.isnan() & closed.value.isnan()) | (flat == closed.value)
    if not fine.all():
        worst = int((apart - closed.bound).nan_to_num(torch.inf).argmax())
        detail = f"{name}: {float(apart[worst]):.3g} apart, {float(closed.bound[worst]):.3g} by rounding"
        recorder.events.append(Event(ADASUM_OFF, detail))
    result.copy_(closed.value.view_as(result))


def adasum_in_ddp(settings: Settings) -> None:
    """In the original: gradients stay with their rank, and what a step changed is combined after it."""
    from hvdkit.verify.hook.ddp import reduce_by

    gather = _gather()
    starts: dict[int, dict[torch.Tensor, torch.Tensor]] = {}

    def before(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        if not inside_a_step():
            starts[id(optimizer)] = {
                parameter: parameter.detach().clone()
                for group in optimizer.param_groups
                for parameter in group["params"]
                if parameter.requires_grad
            }

    def after(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        for parameter, start in starts.pop(id(optimizer), {}).items():
            update = parameter.detach() - start
            sent = update.half() if settings.float16 else update
            sent = sent.double() if settings.world > 2 else sent  # as float64.widen_horovod sends it
            value = combine(gather(sent.reshape(1, -1))).value
            value = value.half() if settings.float16 else value
            parameter.data.copy_(start + value.view_as(update).to(update.dtype))

    reduce_by(_keep_local)
    register_optimizer_step_pre_hook(before)
    register_optimizer_step_post_hook(after)


def _keep_local(_: Any, bucket: Any) -> Any:
    done: torch.futures.Future[torch.Tensor] = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done


def _gather() -> Callable[[torch.Tensor], torch.Tensor]:
    """(1, n) of this rank -> (ranks, n)."""
    import torch.distributed as dist

    all_gather = dist.all_gather  # before anything watches it: this call is not the script's

    def gather(own: torch.Tensor) -> torch.Tensor:
        if not dist.is_initialized():
            return own
        rows = [torch.empty_like(own) for _ in range(dist.get_world_size())]
        all_gather(rows, own)
        return torch.cat(rows)

    return gather
