"""Which loader trains, and what is drawn in its passes."""

from __future__ import annotations

from collections import Counter

from hvdkit.observe.records import PASS_ENDED, TF_DATA, Event, Run


def training_loader(run: Run) -> int:
    """The loader whose batch came last before most steps; -1 for none. Others are drawn from ahead of a step,
    too: by workers, and by an evaluation after the step before it."""
    uses = Counter(step.loader for step in run.steps[0] if step.loader >= 0)
    return uses.most_common(1)[0][0] if uses else -1


def first_epoch(run: Run, loader: int) -> int:
    """The first pass over a loader that trains: a look at a batch, or at the shapes, may come before it."""
    return min((step.epoch for step in run.steps[0] if step.loader == loader), default=0)


def pass_ended(run: Run, loader: int, epoch: int) -> bool:
    """Whether a pass was drawn to its end; one over tf.data, not always asked for it, when the next began."""
    if any(draw.sampler == TF_DATA for step in run.steps[0] for draw in step.draws):
        return any((d.loader, d.epoch) == (loader, epoch + 1) for step in run.steps[0] for d in step.draws)
    end = Event(PASS_ENDED, f"{loader} {epoch}")
    return any(end in step.events for step in run.steps[0])


def is_row(indices: tuple[object, ...]) -> bool:
    """Whether samples are taken at equal distances, as a sampler that does not shuffle takes them."""
    numbers = [index for index in indices if isinstance(index, int)]
    gaps = {later - earlier for earlier, later in zip(numbers, numbers[1:])}
    return len(numbers) == len(indices) > 2 and len(gaps) == 1 and min(gaps) > 0
