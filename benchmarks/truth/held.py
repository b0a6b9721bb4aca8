"""What was claimed, held against what was seen."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from truth.choices import Choices
from truth.claims import GROUP, VERDICT, Fault
from truth.old import trained
from truth.probe import digest
from truth.programs import BATCH, TRAINED, VALIDATED
from truth.runs import NO_CARDS, Job, Seen

STARTS = "Horovod is initialized before CUDA"
STARTS_ITSELF = "every program that calls Horovod starts it"
DEVICE = "each process has its own device"
SHARDED = "training data is sharded by rank"
ORDER = "each epoch has a different order"
AVERAGED = "every optimizer averages gradients"
SAME = "ranks start from the same weights"
FILES = "files are written by rank 0 only"
REDUCED = "reductions name their operation"
MEET = "collectives meet"
ROWS = (STARTS, STARTS_ITSELF, DEVICE, SHARDED, ORDER, AVERAGED, SAME, FILES, REDUCED, GROUP.row, MEET)


def faults(choices: Choices, ran: list[Job]) -> list[Fault]:
    """All that was wrong in the runs of a program, each once."""
    found = [fault for job in ran for fault in _of(choices, job)]
    return list(dict.fromkeys(found))


def _of(choices: Choices, job: Job) -> Iterator[Fault]:
    crash = next((seen["error"] for seen in job.ranks.values() if seen["error"]), "")
    if job.layout == "inference":
        if job.code:
            yield Fault(STARTS_ITSELF, f"the inference script: {crash or _last(job.output)}")
        return
    ranks = [seen for _, seen in sorted(job.ranks.items())]
    world = 1 if job.layout == "alone" else 2
    if job.code or len(ranks) != world:
        row = STARTS if "has not been initialized" in crash else VERDICT
        hang = job.code == 124 or "Timeout (" in job.output
        yield Fault(
            row, f"{'hang' if hang and not crash else 'crash'}, {job.layout}: {crash or _last(job.output)}"
        )
        if hang and not crash:
            yield Fault(MEET, f"hang, {job.layout}: {_last(job.output)}")
        return
    yield from _loops(choices, job, ranks)
    yield from _losses(job, ranks)
    old = digest("Net", trained(choices)) if choices["old"] == "there" and not job.before else ""
    if old and old not in ranks[0]["start"]:
        yield Fault(VERDICT, f"the original's checkpoint is not resumed: {ranks[0]['start']}")
    if world == 1:
        return
    yield from _devices(choices, job, ranks)
    yield from _data(choices, ranks)
    yield from _weights(ranks)
    yield from _files(choices, ranks)
    yield from _left_over(ranks)


def faults_of_any(job: Job) -> list[Fault]:
    """What was wrong in a run of two ranks of a program of which nothing is known."""
    crash = next((seen["error"] for seen in job.ranks.values() if seen["error"]), "")
    if job.code or len(job.ranks) != 2:
        return [Fault(VERDICT, f"crash or hang, {job.layout}: {crash or _last(job.output)}")]
    ranks = [seen for _, seen in sorted(job.ranks.items())]
    return [*_weights(ranks, any_class=True), *_shares(ranks), *_both_write(ranks), *_left_over(ranks)]


def _shares(ranks: list[Seen]) -> Iterator[Fault]:
    first, second = ([sample for epoch in seen["epochs"] for sample in epoch] for seen in ranks)
    told_apart = all(len(set(samples)) == len(samples) > 1 for samples in (first, second))
    if told_apart and len(set(first) & set(second)) > 1:
        yield Fault(SHARDED, "both ranks train on the same samples")


def _both_write(ranks: list[Seen]) -> Iterator[Fault]:
    both = set(ranks[0]["written"]) & set(ranks[1]["written"])
    if both:
        yield Fault(FILES, f"both ranks write {sorted(both)[0]}")


def _left_over(ranks: list[Seen]) -> Iterator[Fault]:
    if any(seen["group"] for seen in ranks):
        yield GROUP
    if any(seen["wrapped"] for seen in ranks):
        yield Fault(GROUP.row, "a wrapper of torch is left")


def _last(output: str) -> str:
    """The line of an output that says most."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "Error" in line and "horovodrun" not in line]
    return (errors or lines or ["nothing printed"])[-1][:200]


def _loops(choices: Choices, job: Job, ranks: list[Seen]) -> Iterator[Fault]:
    made = [len(seen["epochs"]) for seen in ranks]
    resumes = choices["resume"] != "none" and choices["saved"] == "dictionary"
    wanted = job.epochs - job.before if resumes else job.epochs
    if len(set(made)) > 1:
        yield Fault(VERDICT, f"ranks make other numbers of epochs: {made}")
    elif choices["stop"] == "none" and made[0] != wanted:
        yield Fault(VERDICT, f"{made[0]} epochs instead of {wanted}, {job.layout}")
    if len({seen["steps"] for seen in ranks}) > 1:
        yield Fault(VERDICT, f"ranks make other numbers of steps: {[seen['steps'] for seen in ranks]}")
    for rank, seen in enumerate(ranks):
        short = [len(set(looked)) for looked in seen["validations"] if len(set(looked)) != VALIDATED]
        if short:
            yield Fault(VERDICT, f"rank {rank} validates on {short[0]} of {VALIDATED} samples, {job.layout}")
        if rank == 0 and len(seen["validations"]) != made[0]:
            yield Fault(VERDICT, f"{len(seen['validations'])} validations in {made[0]} epochs")


def _losses(job: Job, ranks: list[Seen]) -> Iterator[Fault]:
    """What rank 0 writes as the loss of all ranks is their mean."""
    written = ranks[0]["logged"].get("train")
    if written is None or not all(seen["losses"] for seen in ranks):
        return
    mean = sum(seen["losses"][-1] for seen in ranks) / len(ranks)
    if not math.isclose(written, mean, rel_tol=1e-4):
        # What nobody reduced, the row says nothing of.
        own = any(math.isclose(written, seen["losses"][-1], rel_tol=1e-4) for seen in ranks)
        row = VERDICT if own else REDUCED
        yield Fault(row, f"{job.layout}: {written:.6g} is logged, the mean over the ranks is {mean:.6g}")


def _devices(choices: Choices, job: Job, ranks: list[Seen]) -> Iterator[Fault]:
    for rank, seen in enumerate(ranks):
        own = str(rank if job.layout == "one host" else 0)
        if choices["device"] != "cpu" and job.layout != NO_CARDS and seen["cards"] != [own]:
            yield Fault(DEVICE, f"{job.layout}: rank {rank} asks for cards {seen['cards']}")
        if seen["early_cards"]:
            yield Fault(STARTS, "a card is asked for before hvd.init()")


def _data(choices: Choices, ranks: list[Seen]) -> Iterator[Fault]:
    first, second = (seen["epochs"] for seen in ranks)
    for one, other in zip(first, second):
        if choices["order"] == "weighted":
            if one == other:
                yield Fault(SHARDED, "both ranks draw the same samples, in the same order")
            if len(one) + len(other) > TRAINED + 2 * BATCH:
                yield Fault(SHARDED, "each rank draws as many samples as there are, and an epoch is longer")
            continue
        both = set(one) & set(other)
        if len(both) > 1:  # a share may be filled up with one sample
            yield Fault(SHARDED, "both ranks train on samples of one epoch")
        if len(set(one) | set(other)) < TRAINED - 2 * BATCH:
            yield Fault(SHARDED, "samples are trained on by no rank")
    trained = {sample for seen in ranks for epoch in seen["epochs"] for sample in epoch}
    if trained & {sample for seen in ranks for looked in seen["validations"] for sample in looked}:
        yield Fault(SHARDED, "a rank validates on what a rank trains on")
    if choices["order"] != "in-order":
        for seen in ranks:
            if any(one == other for one, other in zip(seen["epochs"], seen["epochs"][1:])):
                yield Fault(ORDER, "two epochs have one order")


def _weights(ranks: list[Seen], any_class: bool = False) -> Iterator[Fault]:
    first, second = ranks
    if first["start"] != second["start"]:
        yield Fault(SAME, f"at the first step: {_apart(first['start'], second['start'])}")
    elif first["end"] != second["end"]:
        apart = _apart(first["end"], second["end"])
        yield Fault(AVERAGED if any_class or "Net" in apart else SAME, f"at the end: {apart}")


def _apart(one: list[str], other: list[str]) -> str:
    """The classes whose weights differ."""
    return ", ".join(sorted({text.split()[0] for text in set(one) ^ set(other)}))


def _files(choices: Choices, ranks: list[Seen]) -> Iterator[Fault]:
    first, second = ranks
    if second["written"]:
        yield Fault(FILES, f"rank 1 writes {second['written'][0].split('/')[-1]}")
    own = {Path(name) for name in first["folders"]}
    if not {Path(name) for name in second["folders"]} <= own | {up for path in own for up in path.parents}:
        yield Fault(VERDICT, "rank 1 makes a folder that rank 0 does not make")
    ends = {
        ".pt": choices["save"] != "none",
        "log.csv": choices["log"] == "csv",
        ".json": choices["log"] == "json",
    }
    for end, wanted in ends.items():
        if wanted and first["epochs"] and not any(name.endswith(end) for name in first["written"]):
            yield Fault(FILES, f"rank 0 does not write {end}")
