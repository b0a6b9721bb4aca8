"""A Horovod script without an original: what has to hold of every one of them, whatever it trains.

The script is its own reference. On one rank it has all samples, one learning rate and nobody to agree with;
on several, which are on two hosts, the invariants are held against that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from hvdkit.errors import UsageError
from hvdkit.observe.records import TO_END, Run
from hvdkit.verify import tensorflow
from hvdkit.verify.detect import Start
from hvdkit.verify.hook.settings import Settings
from hvdkit.verify.invariant import Checked, Invariant, Unchecked, exit_code
from hvdkit.verify.invariants import OF_TORCH, Causes
from hvdkit.verify.judge import not_reached_by, notes_of_runs
from hvdkit.verify.placement import HOROVOD, on_several_ranks
from hvdkit.verify.scene import Scene
from hvdkit.verify.shares import unchecked_shares
from hvdkit.verify.unreached import Unreached

NO_ORIGINAL = (
    "there is no original: the result on 1 rank is taken as correct; hvdkit "
    "verify ORIGINAL MIGRATED compares the values"
)


@dataclass(frozen=True)
class Alone:
    """The result. one, run: the script on one rank and on all that were asked for. unchecked: what should
    hold and was not seen."""

    one: Run
    run: Run
    invariants: tuple[Invariant, ...]
    unchecked: tuple[Unchecked, ...]
    notes: tuple[str, ...]
    not_reached: tuple[Unreached, ...]

    @property
    def holds(self) -> bool:
        """Every invariant does."""
        return all(invariant.holds for invariant in self.invariants)

    @property
    def code(self) -> int:
        """The exit code that says so."""
        return exit_code(self.holds, self.unchecked)


# What more is run and checked: the scene, its settings on one rank, the run on one rank, that on several.
More = Callable[[Scene, Settings, Run, Run], Checked]


def check_alone(scene: Scene, start: Start, more: More, keep: int) -> Alone:
    """Run the script on one rank and on several. keep: steps of which `more` needs batches and gradients.

    Raises an HvdkitError when it cannot be run to a result.
    """
    asked = scene.request
    if asked.world < 2:
        raise UsageError(
            "one script on 1 rank: there is nothing to check",
            "faults of a Horovod script show only on several ranks",
            "--np 2",
        )
    single = Settings("", 1, asked.steps, cpu=asked.cpu, align=True, keep=keep)
    one = scene.run("script on 1 rank", asked.migrated, HOROVOD, single)
    wide = replace(single, world=asked.world, align=False, keep=0, own=keep)
    run = scene.run(f"script on {asked.world} ranks", asked.migrated, HOROVOD, wide)
    causes: Causes = tensorflow.CAUSES if start.tensorflow else OF_TORCH
    invariants = on_several_ranks(scene, one, run, wide, causes)
    further = more(scene, single, one, run)
    invariants += further.invariants
    notes = tuple(_notes(scene, start, one, run))
    held = tuple(map(_without_original, invariants))
    shares = () if start.tensorflow else unchecked_shares(one, run, causes.shard)
    return Alone(one, run, held, (*shares, *further.unchecked), notes, not_reached_by(scene, run))


def _notes(scene: Scene, start: Start, one: Run, run: Run) -> Iterator[str]:
    yield NO_ORIGINAL
    taken = min(run.taken(rank) for rank in run.steps)
    if taken < scene.request.steps < TO_END:
        yield f"the script ended after {taken} of {scene.request.steps} steps on {run.world} ranks"
    yield from notes_of_runs(scene, start, (one, run))


def _without_original(invariant: Invariant) -> Invariant:
    """In the words of a script that is its own reference."""

    def said(text: str) -> str:
        return text.replace("the original's", "that of 1 rank").replace("in the original", "on 1 rank")

    return replace(invariant, name=said(invariant.name), detail=said(invariant.detail))
