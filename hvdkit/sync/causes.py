"""From the ranks' evidence to why they differ. The first test that fits names the likely cause."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from hvdkit.sync.evidence import Evidence
from hvdkit.sync.history import LOAD, LOAD_SCALER, LOAD_SCHEDULER, PHANTOM_STEP, SCHEDULER_STEP
from hvdkit.sync.settings import VARIABLE

_SEED_LIMIT = 2**32  # torch's own random seed for a process that sets none lies above, all but surely
_BROADCASTS = {
    "torch": "hvd.broadcast_parameters(model.state_dict(), root_rank=0) before training, after a load",
    "tensorflow": "hvd.callbacks.BroadcastGlobalVariablesCallback(0) among the callbacks of fit; in a loop "
    "hvd.broadcast_variables(model.variables, root_rank=0), after a load, and before or right after step 1",
}


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
    # A step without gradients moves nothing but by weight decay, and shows the first time that one looks.
    if not _uneven(ranks, PHANTOM_STEP) or not any(rank.decays and not rank.agreed for rank in ranks):
        return None
    return Cause(
        "phantom_step",
        f"hvd.broadcast_optimizer_state took an extra step on "
        f"{_more(ranks, PHANTOM_STEP)}, where the optimizer had no "
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
        "load first, on rank 0, then " + _broadcast(ranks),
    )


def _not_wrapped(ranks: Ranks, _: Sequence[str]) -> Cause | None:
    if not any(rank.wrapped is False for rank in ranks):
        return None
    if ranks[0].framework == "tensorflow":
        return Cause(
            "not_wrapped",
            "no gradient is reduced: each rank steps with its own",
            "hvd.DistributedOptimizer(optimizer), or hvd.DistributedGradientTape(tape) in a loop; under "
            "Keras 3 those of hvdkit.tensorflow, as Horovod's optimizer reduces nothing there",
        )
    return Cause(
        "not_wrapped",
        "the optimizer is not an hvd.DistributedOptimizer: each rank steps with its own gradients",
        "optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())",
    )


def _scaler_resumed(ranks: Ranks, _: Sequence[str]) -> Cause | None:
    if not _on_some(ranks, LOAD_SCALER):
        return None
    return Cause(
        "scaler_resumed",
        f"{_more(ranks, LOAD_SCALER)} loaded a GradScaler's state, and the others did not: gradients of "
        "different scales are averaged",
        "after the load, on all ranks: "
        "scaler.load_state_dict(hvd.broadcast_object(scaler.state_dict(), root_rank=0))",
    )


def _rates(ranks: Ranks, _: Sequence[str]) -> Cause | None:
    rates = [", ".join(rank.rates) for rank in ranks]
    if len(set(rates)) == 1:
        return None
    shown = "; ".join(f"rank {rank}: {rate}" for rank, rate in enumerate(rates))
    differ = f"the learning rates differ ({shown}):"
    if _on_some(ranks, LOAD_SCHEDULER):
        return Cause(
            "scheduler_resumed",
            f"{differ} {_more(ranks, LOAD_SCHEDULER)} loaded a scheduler's state, and the others did not",
            "after the load, on all ranks: "
            "scheduler.load_state_dict(hvd.broadcast_object(scheduler.state_dict(), root_rank=0))",
        )
    if _uneven(ranks, SCHEDULER_STEP):
        return Cause(
            "learning_rate",
            f"{differ} {_more(ranks, SCHEDULER_STEP)} called scheduler.step() more often",
            "scheduler.step() on all ranks, the same number of times",
        )
    if _on_some(ranks, LOAD):
        return Cause(
            "epoch_resumed",
            f"{differ} {_more(ranks, LOAD)} loaded a checkpoint, and did not broadcast the epoch or step "
            "that the rate is computed from",
            "start_epoch = hvd.broadcast_object(start_epoch, root_rank=0), before anything uses it",
        )
    if ranks[0].framework == "tensorflow":
        return Cause(
            "learning_rate",
            f"{differ} each rank sets its own",
            "set it on all ranks, from values that are the same on all of them",
        )
    return Cause(
        "learning_rate",
        f"{differ} each rank computes its own",
        "compute it from values that are the same on all ranks; ReduceLROnPlateau needs the average: "
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
        "import hvdkit.torch as hvd: its DistributedOptimizer reduces what is unfrozen or added later; "
        "horovod.torch's must be created when everything that it will train exists and has "
        "requires_grad=True",
    )


def _no_broadcast(ranks: Ranks, _: Sequence[str]) -> Cause | None:
    if not all(rank.watched and not rank.agreed and not rank.counts.get("broadcast") for rank in ranks):
        return None
    seeds = [rank.seed for rank in ranks]
    if len(set(seeds)) > 1 and max(seeds) < _SEED_LIMIT:
        return Cause(
            "seed",
            f"each rank seeds torch with a different number ({_names(list(map(str, seeds)))}) before it "
            "builds the model, and nothing is broadcast",
            _broadcast(ranks),
        )
    text = "nothing is broadcast: each rank starts from different weights"
    return Cause("no_broadcast", text, _broadcast(ranks))


def _clipped(ranks: Ranks, _: Sequence[str]) -> Cause | None:
    if not any(rank.counts.get("clip") for rank in ranks):
        return None
    return Cause(
        "clipping",
        "gradients are clipped while Horovod still reduces them, so ranks clip different values",
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
        _broadcast(ranks),
    )


TESTS: tuple[Test, ...] = (
    _scaler_resumed,
    _skipped_step,
    _joined,
    _resumed_late,
    _not_wrapped,
    _no_broadcast,
    _rates,
    _phantom_step,
    _uncovered,
    _clipped,
    _unsent,
)


def _unknown(ranks: Ranks) -> Cause:
    if not all(rank.watched for rank in ranks):
        return Cause(
            "unknown",
            "the ranks no longer train the same model",
            f"{VARIABLE}=1 horovodrun ... compares from the start and names the likely cause",
        )
    return Cause(
        "unknown",
        "the ranks no longer train the same model, and the cause is none that hvdkit knows",
        f"{VARIABLE}=1,2,3,4,5 horovodrun ... shows the first step at which they differ",
    )


def _broadcast(ranks: Ranks) -> str:
    return _BROADCASTS[ranks[0].framework]


def _uneven(ranks: Ranks, what: str) -> bool:
    return len({rank.counts.get(what, 0) for rank in ranks}) > 1


def _on_some(ranks: Ranks, what: str) -> bool:
    """It happened on some ranks, and on others never. Who sends what it has loaded loads once more."""
    return len({bool(rank.counts.get(what)) for rank in ranks}) > 1


def _more(ranks: Ranks, what: str) -> str:
    """The ranks where it happened more often than elsewhere."""
    counts = [rank.counts.get(what, 0) for rank in ranks]
    return _which(count > min(counts) for count in counts)


def _which(which: Iterable[bool]) -> str:
    numbers = [str(rank) for rank, holds in enumerate(which) if holds]
    return f"rank{'s' * (len(numbers) > 1)} {', '.join(numbers)}"


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
