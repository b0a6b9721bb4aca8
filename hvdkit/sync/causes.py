"""From the ranks' evidence to why they differ. The first test that fits names the likely cause."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from hvdkit.sync.evidence import Evidence
from hvdkit.sync.settings import VARIABLE

_SEED_LIMIT = 2**32  # torch's own random seed for a process that sets none lies above, all but surely
_BROADCAST = "hvd.broadcast_parameters(model.state_dict(), root_rank=0) before training, after a load"


@dataclass(frozen=True)
class Cause:
    """id: one word. text: what happened. fix: what to write."""

    id: str
    text: str
    fix: str


Ranks = Sequence[Evidence]
Test = Callable[[Ranks, Sequence[str]], "Cause | None"]


def likely(ranks: Ranks, differing: Sequence[str]) -> Cause:
    """The likely cause of a difference. ranks: by rank. differing: names of the values that differ."""
    found = (test(ranks, differing) for test in TESTS)
    return next((cause for cause in found if cause), _unknown(ranks))


def _skipped_step(ranks: Ranks, _: Sequence[str]) -> Cause | None:
    skipped = [rank.skipped for rank in ranks]
    if len(set(skipped)) == 1:
        return None
    return Cause(
        "skipped_step",
        f"{_which(count > min(skipped) for count in skipped)} skipped a step that the others took: its "
        "GradScaler saw an overflow in gradients that were not averaged yet",
        "optimizer.synchronize() before scaler.unscale_() and scaler.step(), that under "
        "optimizer.skip_synchronize(); or hvdkit.torch's hvd.scaler_step(scaler, optimizer)",
    )


def _joined(ranks: Ranks, _: Sequence[str]) -> Cause | None:
    if not any(rank.counts.get("join") for rank in ranks):
        return None
    return Cause(
        "join",
        "hvd.join() was called: a rank that has joined misses the steps that the others still take",
        "last = hvd.join(), then hvd.broadcast_parameters(model.state_dict(), root_rank=last)",
    )


def _phantom_step(ranks: Ranks, _: Sequence[str]) -> Cause | None:
    if not _uneven(ranks, "phantom step"):
        return None
    return Cause(
        "phantom_step",
        f"hvd.broadcast_optimizer_state took a step of its own on "
        f"{_which(bool(rank.counts.get('phantom step')) for rank in ranks)}, where the optimizer had no "
        "state: weight decay has changed the parameters",
        "broadcast the parameters after the optimizer's state; or "
        "optimizer.load_state_dict(hvd.broadcast_object(optimizer.state_dict(), root_rank=0))",
    )


def _resumed_late(ranks: Ranks, _: Sequence[str]) -> Cause | None:
    late = [rank.loaded_last() for rank in ranks]
    if len(set(late)) == 1:
        return None
    return Cause(
        "resumed_late",
        f"{_which(late)} loaded a checkpoint after the broadcast, and the others did not",
        "load first, on rank 0, then " + _BROADCAST,
    )


def _not_wrapped(ranks: Ranks, _: Sequence[str]) -> Cause | None:
    if not any(rank.wrapped is False for rank in ranks):
        return None
    return Cause(
        "not_wrapped",
        "the optimizer is no hvd.DistributedOptimizer: each rank steps on its own gradients",
        "optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())",
    )


def _rates(ranks: Ranks, _: Sequence[str]) -> Cause | None:
    rates = [", ".join(rank.rates) for rank in ranks]
    if len(set(rates)) == 1:
        return None
    shown = "; ".join(f"rank {rank}: {rate}" for rank, rate in enumerate(rates))
    return Cause(
        "learning_rate",
        f"the learning rates differ ({shown}): a scheduler steps on some ranks only, or on what "
        "each rank measured",
        "scheduler.step() on all ranks; ReduceLROnPlateau needs the average: "
        "scheduler.step(hvd.allreduce(loss, name='loss'))",
    )


def _uncovered(ranks: Ranks, differing: Sequence[str]) -> Cause | None:
    uncovered = {name for rank in ranks for name in rank.uncovered}
    hit = [name for name in differing if name in uncovered]
    if not hit:
        return None
    return Cause(
        "uncovered",
        f"{_names(hit)}: trained, but not reduced; frozen when the optimizer was wrapped, or added later",
        "wrap while every parameter that will be trained has requires_grad=True and is in the optimizer; "
        "hvdkit.torch's DistributedOptimizer reduces what is unfrozen or added later",
    )


def _no_broadcast(ranks: Ranks, _: Sequence[str]) -> Cause | None:
    if not all(rank.watched and not rank.counts.get("broadcast") for rank in ranks):
        return None
    seeds = [rank.seed for rank in ranks]
    if len(set(seeds)) > 1 and max(seeds) < _SEED_LIMIT:
        return Cause(
            "seed",
            f"each rank seeds torch with another number ({_names(list(map(str, seeds)))}) before it builds "
            "the model, and nothing is broadcast",
            _BROADCAST,
        )
    return Cause("no_broadcast", "nothing is broadcast: each rank starts from weights of its own", _BROADCAST)


def _clipped(ranks: Ranks, _: Sequence[str]) -> Cause | None:
    if not any(rank.counts.get("clip") for rank in ranks):
        return None
    return Cause(
        "clipping",
        "gradients are clipped while Horovod still reduces them, so that ranks clip different numbers",
        "optimizer.synchronize() before clipping, then optimizer.step() under optimizer.skip_synchronize(); "
        "or hvdkit.torch's hvd.clip_grad_norm_(optimizer, model.parameters(), max_norm)",
    )


def _unsent(ranks: Ranks, differing: Sequence[str]) -> Cause | None:
    unsent = {name for rank in ranks for name in rank.unsent}
    hit = [name for name in differing if name in unsent]
    if not hit:
        return None
    return Cause(
        "unsent",
        f"{_names(hit)}: made or replaced after the broadcast, or left out of it",
        _BROADCAST,
    )


TESTS: tuple[Test, ...] = (
    _skipped_step,
    _joined,
    _phantom_step,
    _resumed_late,
    _not_wrapped,
    _uncovered,
    _no_broadcast,
    _clipped,
    _rates,
    _unsent,
)


def _unknown(ranks: Ranks) -> Cause:
    if not all(rank.watched for rank in ranks):
        return Cause(
            "unknown",
            "the ranks no longer train one model",
            f"{VARIABLE}=1 horovodrun ... looks from the start and names the likely cause",
        )
    return Cause(
        "unknown",
        "the ranks no longer train one model, by none of the causes that hvdkit knows",
        f"{VARIABLE}=1,2,3,4,5 horovodrun ... shows the first step at which they part",
    )


def _uneven(ranks: Ranks, what: str) -> bool:
    return len({rank.counts.get(what, 0) for rank in ranks}) > 1


def _which(which: Iterable[bool]) -> str:
    numbers = [str(rank) for rank, holds in enumerate(which) if holds]
    return f"rank{'s' * (len(numbers) > 1)} {', '.join(numbers)}"


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
