"""Write a generated program and run what came of it; what was seen, as data."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from truth.choices import Choices
from truth.old import old_checkpoint
from truth.programs import MORE_EPOCHS, alone_options, epochs_of, files, options
from truth.warm import Warm

JOB_LIMIT = 100.0  # seconds; a rank ends by itself before (probe.LIMIT)
# Two hosts of one slot, where rank and local rank differ; one host of two.
LAYOUTS = {"two hosts": "localhost:1,127.0.0.1:1", "one host": "localhost:2"}
NO_CARDS = "no cards"
ANYWHERE = ("available", "cpu", "option", "visible")  # the ways to choose a device that may be the CPU

Seen = dict[str, Any]  # what the probe of one rank wrote (probe.seen)


@dataclasses.dataclass(frozen=True)
class Job:
    """One run.

    before, epochs: how many epochs the runs before were asked for, and this one. ranks: what the probe of
    each rank saw, by rank. output: the end of what was printed.
    """

    layout: str
    code: int
    before: int
    epochs: int
    ranks: dict[int, Seen]
    output: str


def written(choices: Choices, folder: Path) -> None:
    """Write the program's files into a new folder."""
    folder.mkdir(parents=True)
    for name, text in files(choices).items():
        (folder / name).write_text(text)
    if choices["old"] == "there":
        old_checkpoint(choices, folder)


def jobs(warm: Warm, choices: Choices, folder: Path, out: Path) -> Iterator[Job]:
    """Run a migrated program on both layouts, on machines without cards, and alone without a job."""
    plans = list(LAYOUTS.items())
    if choices["device"] in ANYWHERE and not choices.needs_cards:
        plans.append((NO_CARDS, LAYOUTS["one host"]))
    before = 0
    for layout, hosts in (*plans, ("alone", "")):
        epochs = before + MORE_EPOCHS if before else epochs_of(choices)
        script = ["train.py", *options(choices, epochs), *([] if hosts else alone_options(choices))]
        yield _job(warm, layout, hosts, folder, out, script, (before, epochs))
        before = epochs
    if choices["inference"] == "script":
        yield _job(warm, "inference", "", folder, out, ["infer.py"], (0, 0))


def _job(
    warm: Warm, layout: str, hosts: str, folder: Path, out: Path, script: list[str], epochs: tuple[int, int]
) -> Job:
    stem = layout.replace(" ", "-")
    # As many cards as a host has ranks, so that the rank is no card where it is not the local rank.
    cards = {NO_CARDS: 0, "two hosts": 1}.get(layout, 2)
    command = ["rank", str(out / f"{stem}.json"), str(cards), *script]
    ran = warm.job(hosts, command, folder, JOB_LIMIT) if hosts else warm.run(command, folder, JOB_LIMIT)
    code, output = ran
    ranks = {
        int(path.suffixes[0][1:]): json.loads(path.read_text()) for path in out.glob(f"{stem}.[0-9].json")
    }
    (out / f"{stem}.txt").write_text(output)
    return Job(layout, code, *epochs, ranks, output[-3000:])
