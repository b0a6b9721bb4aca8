"""What was claimed of a TensorFlow program, held against what its ranks did."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from truth.claims import VERDICT, Fault
from truth.tf.choices import Choices
from truth.tf.programs import EPOCHS, MORE_EPOCHS, SAVED, TRAINED
from truth.warm import Warm

LAYOUTS = {"two hosts": "localhost:1,127.0.0.1:1", "one host": "localhost:2"}
JOB_LIMIT = 100.0  # seconds; a rank ends by itself before (probe.LIMIT)
STARTS = "Horovod is initialized before TensorFlow is used"
DEVICE = "each process has its own device"
SHARDED = "training data is sharded by rank"
AVERAGED = "every optimizer averages gradients"
SAME = "ranks start from the same weights"
FILES = "files are written by rank 0 only"
STRATEGY = "no strategy is left"
ROWS = (STARTS, DEVICE, SHARDED, AVERAGED, SAME, FILES, STRATEGY)
WRITES = {"callback": "last.weights.h5", "csv": "log.csv", "json": "metrics.json", **SAVED}


@dataclasses.dataclass(frozen=True)
class Job:
    """One run: the exit code, what the probe of each rank saw (by rank), and the end of what was printed.

    there: the files of the folder after it.
    """

    layout: str
    code: int
    ranks: dict[int, dict[str, Any]]
    output: str
    there: tuple[str, ...]


def jobs(warm: Warm, folder: Path, out: Path) -> Iterator[Job]:
    """Run a migrated program on both layouts, and alone without a job."""
    for number, (layout, hosts) in enumerate((*LAYOUTS.items(), ("alone", ""))):
        stem = layout.replace(" ", "-")
        epochs = EPOCHS + number * MORE_EPOCHS
        command = ["rank", str(out / f"{stem}.json"), "train.py", "--epochs", str(epochs)]
        ran = warm.job(hosts, command, folder, JOB_LIMIT) if hosts else warm.run(command, folder, JOB_LIMIT)
        ranks = {
            int(path.suffixes[0][1:]): json.loads(path.read_text()) for path in out.glob(f"{stem}.[0-9].json")
        }
        there = tuple(sorted(path.name for path in folder.iterdir()))
        yield Job(layout, ran[0], ranks, ran[1][-3000:], there)


def faults(choices: Choices, job: Job) -> list[Fault]:
    """All that was wrong in a run, each once."""
    return list(dict.fromkeys(_of(choices, job)))


def _of(choices: Choices, job: Job) -> Iterator[Fault]:
    world = 1 if job.layout == "alone" else 2
    crash = next((seen["error"] for seen in job.ranks.values() if seen["error"]), "")
    if job.code or len(job.ranks) != world:
        hang = not crash and (job.code == 124 or "Timeout (" in job.output)
        last = next((line for line in reversed(job.output.splitlines()) if line.strip()), "")
        yield Fault(VERDICT, f"{'hang' if hang else 'crash'}, {job.layout}: {crash or last[:200]}")
        return
    ranks = [seen for _, seen in sorted(job.ranks.items())]
    trained = [[number for batch in seen["trained"] for number in batch] for seen in ranks]
    if not all(trained):
        yield Fault(VERDICT, f"a rank trains on nothing, {job.layout}")
        return
    yield from _written(choices, job, ranks)
    if len({len(seen["trained"]) for seen in ranks}) > 1:
        yield Fault(VERDICT, f"unequal steps: {[len(seen['trained']) for seen in ranks]}")
    if len({tuple(seen["end"]) for seen in ranks}) > 1:
        yield Fault(AVERAGED, "the ranks end with different weights")
    yield from _shares(choices, ranks, trained)


def _written(choices: Choices, job: Job, ranks: list[dict[str, Any]]) -> Iterator[Fault]:
    for seen in ranks[1:]:
        if seen["written"]:
            yield Fault(FILES, f"a rank other than 0 writes {seen['written'][0]}")
    for thing in ("save", "log"):
        wanted = WRITES.get(choices[thing])
        if wanted and not any(name.startswith(wanted) for name in job.there):
            yield Fault(VERDICT, f"{wanted} is not written")


def _shares(choices: Choices, ranks: list[dict[str, Any]], trained: list[list[int]]) -> Iterator[Fault]:
    sets = [set(numbers) for numbers in trained]
    every = set.union(*sets)
    if len(sets) > 1 and len(sets[0] & sets[1]) > 1:  # a share may be filled up with one
        yield Fault(SHARDED, f"two ranks train on {len(sets[0] & sets[1])} of {len(every)} samples")
    kept = TRAINED * 3 // 4 if choices["validation"] == "split" else TRAINED
    whole = choices["steps"] == "none" and choices["data"] != "masked"
    if whole and len(every) < kept - len(ranks):
        yield Fault(SHARDED, f"{len(every)} of {kept} samples are trained on")
    # One sample alone builds a model.
    looked = {number for seen in ranks for batch in seen["looked"] if len(batch) > 1 for number in batch}
    if looked & every:
        yield Fault(SHARDED, f"{len(looked & every)} samples are trained on and validated with")
    if choices["validation"] == "held" and choices["data"] != "masked" and len(looked) < 8:
        yield Fault(VERDICT, f"{len(looked)} of 8 samples are validated with")
