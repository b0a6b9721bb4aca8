"""Evaluations that each rank makes on a share of its own: what it finds there has to be reduced."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.observe.records import PASS_AT, PASS_ENDED, TF_DATA, Collective, Run
from hvdkit.verify.cause import Cause
from hvdkit.verify.collectives import BROADCAST
from hvdkit.verify.invariant import Invariant
from hvdkit.verify.passes import training_loader
from hvdkit.verify.same_state import STATISTIC

CAUSE = Cause(
    "HVD870",
    "each rank evaluates on its own share and reduces nothing: sum the metric and the number of samples over "
    "the ranks (hvd.allreduce with op=hvd.Sum) before it is printed, compared or ends the training, or "
    "evaluate on all samples on every rank",
)
NAME = "what ranks find on shares of an evaluation is reduced"


def check_evaluations(run: Run) -> Iterator[Invariant]:
    """Reported where ranks evaluate on different samples. An evaluation is a whole pass, between two steps,
    over a loader that does not train."""
    shared, alone = 0, []
    for place, other, epoch in _on_shares(run):
        shared += 1
        if not any(_reduces(call) for steps in run.steps.values() for call in steps[place].collectives):
            alone.append(_begun_at(run, other, epoch))
    if alone:
        where = f" ({alone[0]})" if alone[0] else ""
        yield Invariant(NAME, False, f"{len(alone)} of {shared} evaluations are not reduced{where}", CAUSE)
    elif shared:
        yield Invariant(NAME, True, f"{shared} evaluations", CAUSE)


def by_own_statistics(run: Run) -> bool:
    """Whether ranks evaluate on different samples, each with its own statistics of a normaliser."""
    return any(
        len({tensor.digest for tensor in tensors}) > 1
        for place, _, _ in _on_shares(run)
        for tensors in zip(*(steps[place - 1].buffers for steps in run.steps.values()))
        if STATISTIC.fullmatch(tensors[0].name)
    )


def _on_shares(run: Run) -> Iterator[tuple[int, int, int]]:
    """Place in the records, loader and pass, of evaluations in which ranks draw different samples."""
    for place, other, epoch in _evaluations(run, training_loader(run)):
        drawn = [_drawn(run, rank, place, other, epoch) for rank in run.steps]
        if all(drawn) and any(samples != drawn[0] for samples in drawn):
            yield place, other, epoch


def _reduces(call: Collective) -> bool:
    """What one rank sends to all is still what that rank found."""
    return call.kind != BROADCAST


def _begun_at(run: Run, loader: int, epoch: int) -> str:
    """The line that begins a pass; "" where it is not known."""
    events = (
        event.detail.split(" ", 2) for step in run.steps[0] for event in step.events if event.what == PASS_AT
    )
    return next((place for one, other, place in events if (one, other) == (str(loader), str(epoch))), "")


def _evaluations(run: Run, trains: int) -> Iterator[tuple[int, int, int]]:
    """Place in the records, loader and pass, for passes that are begun and ended between two steps."""
    length = min(len(steps) for steps in run.steps.values())
    found: dict[int, list[tuple[int, int]]] = {}
    for place, step in enumerate(run.steps[0][:length]):
        for event in step.events:
            if event.what == PASS_ENDED:
                loader, epoch = map(int, event.detail.split())
                if loader != trains and _within(run, place, loader, epoch):
                    found.setdefault(loader, []).append((place, epoch))
    for loader, passes in found.items():
        places = [place for place, _ in passes]
        # A loader whose passes end in each step is drawn from to train, as a second one of unlabelled data.
        if places[0] > 1 and all(later - earlier > 1 for earlier, later in zip(places, places[1:])):
            yield from ((place, loader, epoch) for place, epoch in passes)


def _within(run: Run, place: int, loader: int, epoch: int) -> bool:
    places = {
        at
        for at, step in enumerate(run.steps[0])
        for draw in step.draws
        if (draw.loader, draw.epoch) == (loader, epoch) and draw.sampler != TF_DATA
    }
    return places == {place}


def _drawn(run: Run, rank: int, place: int, loader: int, epoch: int) -> set[object]:
    draws = run.steps[rank][place].draws
    return {sample for d in draws if (d.loader, d.epoch) == (loader, epoch) for sample in d.drawn}
