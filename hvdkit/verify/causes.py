"""From the first difference to what usually causes it, and the rule that says more.

A symptom is read from the records of both runs, never from the code. The tests run one after another; the
first that fits a difference wins.
"""

from __future__ import annotations

from collections.abc import Callable

from hvdkit.observe.records import CLIPPED, WRONG_ORDER, Run, Step, Tensor
from hvdkit.verify import output_causes
from hvdkit.verify.cause import Cause
from hvdkit.verify.compare import Comparison
from hvdkit.verify.differences import Difference, Stage
from hvdkit.verify.passes import is_row, training_loader

STATE = Cause(
    "HVD402",
    "ranks hold different state besides their parameters: send rank 0's once it is loaded (an optimizer's by "
    "hvd.broadcast_object(optimizer.state_dict()), modules and their buffers by hvd.broadcast_parameters), "
    "copy averages and teachers after that, and average what each rank updates from its own batches",
)

Test = Callable[[Comparison, Difference], "Cause | None"]


def likely_causes(comparison: Comparison) -> tuple[Cause, ...]:
    """What the records speak for; empty when the runs agree or nothing known fits."""
    if comparison.agree:
        return ()
    first = comparison.differences[0]
    found = [cause for test in TESTS for cause in [test(comparison, first)] if cause]
    always = {
        Stage.FILES: output_causes.files,
        Stage.CONTENTS: output_causes.contents,
        Stage.COLLECTIVE: _collective,
        Stage.PRINTED: output_causes.printed,
        Stage.STATE: _state,
    }
    extra = [always[d.stage](comparison, d) for d in comparison.differences if d.stage in always]
    return tuple(dict.fromkeys([*found[:1], *(cause for cause in extra if cause)]))


def _order(_: Comparison, first: Difference) -> Cause | None:
    if first.stage is not Stage.ORDER:
        return None
    return Cause(*WRONG_ORDER[first.name])


def _no_broadcast(comparison: Comparison, first: Difference) -> Cause | None:
    if first.step or first.stage not in (Stage.PARAMETER, Stage.FROZEN, Stage.UNTRAINED):
        return None
    if _alike(comparison.migrated, first) or not _alike(comparison.original, first):
        return None
    if first.stage is Stage.UNTRAINED:
        return Cause(
            "HVD402",
            f"{first.name} was copied from a model before its weights were broadcast: "
            "broadcast first, then copy",
        )
    events = [event.what for step in comparison.migrated.steps[0][:2] for event in step.events]
    if "broadcast" in events and "load" in events[events.index("broadcast") :]:
        return Cause(
            "HVD402",
            "the checkpoint is loaded after the broadcast, on some ranks only: load first, then broadcast",
        )
    return Cause(
        "HVD402",
        f"{first.name} is not broadcast: the ranks start from different values; call "
        "hvd.broadcast_parameters(model.state_dict(), root_rank=0) before training",
    )


def _samples(comparison: Comparison, first: Difference) -> Cause | None:
    if first.stage not in (Stage.SAMPLES, Stage.BATCH):
        return None
    one, other = (_step(run, first.rank, first) for run in (comparison.original, comparison.migrated))
    if one is None or other is None:
        return None
    samplers = [{draw.sampler for draw in step.draws} for step in (one, other)]
    if "DistributedSampler" in samplers[0] and "DistributedSampler" not in samplers[1]:
        return Cause(
            "HVD301",
            "the loader no longer has a DistributedSampler: each rank draws from all samples, not its shard",
        )
    epoch = max((draw.epoch for draw in other.draws), default=0)
    if (
        epoch
        and _order_of(comparison.migrated, first.rank, 0)[:1]
        == [draw.indices for draw in other.draws if draw.epoch == epoch][:1]
    ):
        return Cause("HVD303", f"epoch {epoch} has the order of epoch 0: call sampler.set_epoch(epoch)")
    return _different_draws(one, other, training_loader(comparison.original))


def _different_draws(one: Step, other: Step, training: int) -> Cause:
    """Samples that are neither another loader's nor an earlier epoch's: by what they have in common."""
    pairs = [(a, b) for a, b in zip(one.draws, other.draws) if a != b]
    if pairs:
        before, now = pairs[0]
        if training not in (before.loader, now.loader, -1):
            return Cause(
                "HVD301",
                "the loader that evaluates gives batches unlike the original's: its batch size, drop_last "
                "or share is different, and not all samples may be evaluated",
            )
        if before.loader == now.loader and before.epoch != now.epoch:
            more = "more" if now.epoch < before.epoch else "fewer"
            return Cause(
                "HVD301",
                f"a pass over the data has {more} batches than the original's: its batch size, drop_last or "
                "the number of replicas is different",
            )
        if before.epoch == now.epoch and len(before.indices) != len(now.indices):
            return Cause(
                "HVD301",
                f"a batch of one rank has {len(now.indices)} samples, and the original's "
                f"{len(before.indices)}: batch sizes are per rank, as under DDP",
            )
        if is_row(now.indices) and not is_row(before.indices):
            return Cause("HVD301", "the samples are not shuffled: pass shuffle=True to the sampler")
    return Cause(
        "HVD301",
        "the ranks draw different samples from the original's: the sampler's seed, its rank, or the number "
        "that set_epoch is given is different",
    )


def _repeats(comparison: Comparison, first: Difference) -> Cause | None:
    """Every rank of the migrated trains on the same data, and the original's ranks do not."""
    if first.stage not in (Stage.SAMPLES, Stage.BATCH, Stage.LOSS):
        return None
    given = [
        {(_indices(step), step.batches, step.losses) for step in _steps(run, first)}
        for run in (comparison.original, comparison.migrated)
    ]
    if len(given[1]) > 1 or len(given[0]) == 1:
        return None
    return Cause(
        "HVD301",
        "all ranks get the same samples: the sampler lacks rank or size, or all ranks use one seed",
    )


def _scale(comparison: Comparison, first: Difference) -> Cause | None:
    """A loss, gradient or learning rate that is the world size too large or too small."""
    world = comparison.migrated.world
    if first.largest is None:
        return None  # not two numbers
    if first.stage in (Stage.LOSS, Stage.RATE):
        ratio = _ratio(float(first.original), float(first.migrated))
    elif first.stage is Stage.GRADIENT:
        steps = [_step(run, first.rank, first) for run in (comparison.original, comparison.migrated)]
        one, other = (_tensor(step, first, first.name) for step in steps)
        ratio = _ratio(one.norm if one else 0.0, other.norm if other else 0.0)
        whole = [_clipped(step) for step in steps]
        if all(whole):  # clipping hides what came before it
            ratio = _ratio(whole[0], whole[1])
    else:
        return None
    if first.stage is Stage.RATE:
        rates = [
            {step.rates for step in _steps(run, first)} for run in (comparison.original, comparison.migrated)
        ]
        if len(rates[0]) == 1 < len(rates[1]):
            return Cause(
                "HVD403",
                "the learning rate differs between the ranks: it is set, or its scheduler stepped or loaded, "
                "on some ranks only",
            )
        return Cause(
            "HVD403",
            f"the learning rate is multiplied by the {world} ranks, and the original's is not"
            if _is(ratio, world)
            else "the learning rate or its schedule is not the original's",
        )
    if _is(ratio, world):
        return Cause("HVD401", "gradients are summed, not averaged: op=hvd.Average")
    if _is(ratio, 1 / world):
        return Cause("HVD401", "gradients are divided by the number of ranks twice: Horovod averages already")
    return _one_factor(comparison, first) if first.stage is Stage.GRADIENT else None


def _clipped(step: Step | None) -> float:
    """The norm of the gradients before they were clipped; 0 where they were not."""
    events = step.events if step else ()
    return next((float(event.detail) for event in events if event.what == CLIPPED), 0.0)


def _one_factor(comparison: Comparison, first: Difference) -> Cause | None:
    """All gradients of a step are the original's times one number, which is not that of the ranks."""
    steps = [_step(run, first.rank, first) for run in (comparison.original, comparison.migrated)]
    norms = [{tensor.name: tensor.norm for tensor in step.gradients} if step else {} for step in steps]
    ratios = [_ratio(norm, norms[1].get(name, 0.0)) for name, norm in norms[0].items() if norm]
    if len(ratios) < 2 or _is(ratios[0], 1.0) or not all(_is(ratio, ratios[0]) for ratio in ratios):
        return None
    return Cause(
        "HVD404",
        f"every gradient is {ratios[0]:.3g} times the original's: clipping, unscaling or a division of the "
        "loss is missing, or is done at a different place",
    )


def _statistics(comparison: Comparison, first: Difference) -> Cause | None:
    """Running statistics that the original's ranks have in common, and the migrated's do not."""
    if first.stage is not Stage.BUFFER or not _alike(comparison.original, first):
        return None
    if _alike(comparison.migrated, first):
        return None
    return Cause(
        "HVD204",
        f"{first.name} follows one rank's batches, where the original's is made of all ranks': its "
        "SyncBatchNorm was lost; use hvd.SyncBatchNorm",
    )


def _lost_state(comparison: Comparison, first: Difference) -> Cause | None:
    """An optimizer that the original has loaded starts anew, with the rate that it was made with."""
    if first.stage is not Stage.RATE or first.step:
        return None
    one, other = (_step(run, first.rank, first) for run in (comparison.original, comparison.migrated))
    if not one or not one.state or not other or other.state:
        return None
    return Cause("HVD402", "the state that the optimizer had loaded is lost: wrap it first, then load")


def _forward(comparison: Comparison, first: Difference) -> Cause | None:
    """The same weights and the same batch give a different loss."""
    if first.stage is not Stage.LOSS or first.largest is None:
        return None
    step = _step(comparison.migrated, first.rank, first)
    if step is None or not step.batches:
        return None  # data that no loader returned are not compared
    if first.rank:
        return Cause(
            "HVD307",
            f"on rank {first.rank}, but not on rank 0, the same weights and batch give a different loss: its "
            "random numbers (dropout) are seeded differently; give each rank its original seed",
        )
    statistics = (
        "; batch statistics of one rank, where SyncBatchNorm used those of all ranks" if step.buffers else ""
    )
    return Cause(
        "HVD204" if step.buffers else "HVD307",
        "the same weights and the same batch give a different loss: a different mode (train or eval), random "
        f"numbers drawn in a different order{statistics}",
    )


def _update(comparison: Comparison, first: Difference) -> Cause | None:
    """The same gradients at the same rate make a different update."""
    if first.stage is not Stage.PARAMETER or not first.step or first.largest is None:
        return None
    if _alike(comparison.original, first) and not _alike(comparison.migrated, first):
        return Cause(
            "HVD402",
            f"the ranks make different updates of the same gradient: the optimizer's state differs on rank "
            f"{first.rank}; send rank 0's by hvd.broadcast_object(optimizer.state_dict()) after it is loaded",
        )
    return Cause(
        "HVD402",
        "the same gradients make a different update: the optimizer's state is not the original's (one that "
        "was loaded before the optimizer was wrapped is lost), or its settings are different",
    )


def _ratio(one: float, other: float) -> float:
    return other / one if one else 0.0


def _not_reduced(comparison: Comparison, first: Difference) -> Cause | None:
    if first.stage is not Stage.GRADIENT or _alike(comparison.migrated, first):
        return None
    if not _alike(comparison.original, first):
        return None
    step = _step(comparison.migrated, first.rank, first)
    names = [tensor.name for tensor in step.gradients] if step else []
    local = [name for name in names if not _alike(comparison.migrated, first, name)]
    if len(local) == len(names):
        return Cause(
            "HVD401", f"optimizer {first.optimizer} is not wrapped: hvd.DistributedOptimizer(optimizer)"
        )
    return Cause(
        "HVD401",
        f"not reduced over the ranks: {', '.join(local)}; frozen or added when the optimizer was wrapped",
    )


def _phantom(comparison: Comparison, first: Difference) -> Cause | None:
    events = [e for steps in comparison.migrated.steps.values() for step in steps for e in step.events]
    if first.stage is Stage.PARAMETER and any(event.what == "phantom step" for event in events):
        return Cause(
            "HVD402",
            "hvd.broadcast_optimizer_state took a step with zero gradients on the fresh optimizer: "
            "weight decay and step counts are one step ahead; use "
            "hvd.broadcast_object(optimizer.state_dict())",
        )
    return None


def _state(_: Comparison, __: Difference) -> Cause | None:
    return STATE


def _collective(_: Comparison, first: Difference) -> Cause | None:
    return Cause(
        "HVD501",
        f"the original's {first.original.split(',')[0]} at {first.name} was dropped: each rank continues "
        "with its own value, and rank 0 prints its share; use hvd.allreduce, hvd.allgather or hvd.broadcast",
    )


TESTS: tuple[Test, ...] = (
    _order,
    _no_broadcast,
    _phantom,
    _repeats,
    _samples,
    _lost_state,
    _not_reduced,
    _scale,
    _statistics,
    _forward,
    _update,
)


def _is(ratio: float, wanted: float) -> bool:
    return abs(ratio / wanted - 1) < 1e-3


def _step(run: Run, rank: int, where: Difference) -> Step | None:
    moment = (where.optimizer, where.step)
    return next((s for s in run.steps.get(rank, ()) if (s.optimizer, s.number) == moment), None)


def _steps(run: Run, where: Difference) -> list[Step]:
    """That step of every rank that took it."""
    return [step for rank in run.steps for step in [_step(run, rank, where)] if step]


FIELDS = {
    Stage.GRADIENT: "gradients",
    Stage.PARAMETER: "parameters",
    Stage.FROZEN: "frozen",
    Stage.BUFFER: "buffers",
    Stage.UNTRAINED: "untrained",
}


def _tensor(step: Step | None, where: Difference, name: str) -> Tensor | None:
    tensors: tuple[Tensor, ...] = getattr(step, FIELDS[where.stage], ())
    return next((tensor for tensor in tensors if tensor.name == name), None)


def _alike(run: Run, where: Difference, name: str | None = None) -> bool:
    """All ranks of a run have the same bytes there."""
    found = [_tensor(step, where, name or where.name) for step in _steps(run, where)]
    return len({tensor.digest if tensor else "" for tensor in found}) == 1


def _order_of(run: Run, rank: int, epoch: int) -> list[tuple[object, ...]]:
    return [draw.indices for step in run.steps[rank] for draw in step.draws if draw.epoch == epoch]


def _indices(step: Step) -> tuple[object, ...]:
    return tuple(draw.indices for draw in step.draws)
