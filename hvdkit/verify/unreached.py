"""What the compared steps did not reach of a program, and how many steps would.

What the program has is read from its code: an evaluation, files that it saves and loads. What a run has
reached is in its record. Whatever is in the first and not in the second was not verified, and is printed.
"""

from __future__ import annotations

import ast
import math
import re
import statistics
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from hvdkit.observe.records import EVALUATION, PASS_LENGTH, RESUME, TF_DATA, Run, Step
from hvdkit.verify.detect import modules_of
from hvdkit.verify.reached import EPOCH, EVALUATES, LOADS, SAVES

SAVING = re.compile(r"save(_.*)?|ModelCheckpoint")
FIXES = {LOADS: "give it a checkpoint: arguments after `--`"}


@dataclass(frozen=True)
class Unreached:
    """what: of the program. place: the first line that does it, "" for none. steps: as many reach it, 0 where
    that is not known. fix: what to do."""

    what: str
    place: str
    steps: int
    fix: str

    def __str__(self) -> str:
        where = f" ({self.place})" if self.place else ""
        return f"not reached: {self.what}{where}; {self.fix}"


def unreached(script: Path, run: Run, ended: bool) -> tuple[Unreached, ...]:
    """What is in the program and not in the run. ended: the run went on to the script's own end."""
    steps = [step for steps in run.steps.values() for step in steps]
    events = {event.what for step in steps for event in step.events}
    tensorflow = any(draw.sampler == TF_DATA for step in steps for draw in step.draws)
    reached = {
        EVALUATES: EVALUATION in events,
        SAVES: any(step.writes for step in steps),
        LOADS: RESUME in events,
    }
    if tensorflow:  # Keras evaluates and loads where torch's record does not see it
        del reached[EVALUATES], reached[LOADS]
    needed = _steps_of_an_epoch(run)
    to_end = f"--steps {needed + 1}, or --to-end" if needed else "--to-end"
    found = []
    if not ended and not _epoch_ended(steps):
        found.append(Unreached(EPOCH, "", needed + 1 if needed else 0, to_end))
    places = _places(script)
    for what, seen in reached.items():
        if seen or what not in places:
            continue
        fix = FIXES.get(what) or ("its condition was not met" if ended else to_end)
        found.append(Unreached(what, places[what], needed + 1 if needed and what not in FIXES else 0, fix))
    return tuple(found)


def has(script: Path) -> tuple[str, ...]:
    """What there is to reach in a program, the end of an epoch first."""
    return (EPOCH, *_places(script))


def _places(script: Path) -> dict[str, str]:
    """Each thing that the program does, with its first place; the script before the modules beside it."""
    found: dict[str, str] = {}
    for path, tree in modules_of(script):
        for node in ast.walk(tree):
            what = _does(node) if isinstance(node, ast.Call) else ""
            if what and what not in found:
                found[what] = f"{path.name}:{getattr(node, 'lineno', 0)}"
    return found


def _does(call: ast.Call) -> str:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if isinstance(function, ast.Attribute):
        if name == "eval" and not call.args:
            return EVALUATES
        if name == "load" and getattr(function.value, "id", "") == "torch":
            return LOADS
    return SAVES if SAVING.fullmatch(name) else ""


def _epoch_ended(steps: list[Step]) -> bool:
    """The next pass over the training data was begun; without a loader there is none to begin."""
    training = _training_loader(steps)
    return training < 0 or len({step.epoch for step in steps if step.loader == training}) > 1


def _training_loader(steps: list[Step]) -> int:
    uses = Counter(step.loader for step in steps if step.loader >= 0)
    return uses.most_common(1)[0][0] if uses else -1


def _steps_of_an_epoch(run: Run) -> int:
    """Steps in one pass of the loader that trains; 0 where its length is not known."""
    steps = [step for step in run.steps[min(run.steps)] if step.optimizer == 0 and step.number]
    training = _training_loader(steps)
    lengths = [
        int(event.detail.split()[1])
        for step in steps
        for event in step.events
        if event.what == PASS_LENGTH and event.detail.split()[0] == str(training)
    ]
    batches = [len(step.batches) for step in steps if step.loader == training]
    if not lengths or not batches:
        return 0
    return math.ceil(lengths[-1] / max(1, statistics.median_low(batches)))
