"""Runs a single-process original as the ranks of a job that was recorded, and compares the two."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hvdkit.observe.records import ADASUM, Run
from hvdkit.verify.compare import Comparison
from hvdkit.verify.detect import Start
from hvdkit.verify.hook.settings import Settings
from hvdkit.verify.hook.twin_record import PARTED
from hvdkit.verify.invariant import Unchecked
from hvdkit.verify.runner import HangError, NoStepError, RunError
from hvdkit.verify.scene import Scene
from hvdkit.verify.tolerance import tolerance_for
from hvdkit.verify.twins.judged import compare_twins, incomparable

WHAT = "the original as {0} ranks"


@dataclass(frozen=True)
class Twinned:
    """Twins of the original, compared with the job; unchecked: what of it was not."""

    twins: Run
    comparison: Comparison
    unchecked: tuple[Unchecked, ...]


def run_twins(scene: Scene, start: Start, settings: Settings, job: Run, alone: Run) -> Twinned | Unchecked:
    """Compare the original, as the ranks of a job, with it; or why they cannot be compared. settings: of the
    job, which kept what twins need. alone: the original as one process."""
    asked = scene.request
    what = WHAT.format(job.world)
    if any(event.what == ADASUM for steps in job.steps.values() for step in steps for event in step.events):
        return Unchecked(what, "the migrated combines updates by Adasum, of which twins have no counterpart")
    given = replace(settings, twinned=False, own=0, twins=str(job.folder))
    try:
        twins = scene.run(f"original as {job.world} ranks", asked.original, start, given)
    except NoStepError:
        return Unchecked(what, "it took no step")
    except (RunError, HangError) as error:
        return Unchecked(what, str(error).splitlines()[0])
    comparison, unchecked = compare_twins(twins, job, tolerance_for(job.world, asked.tolerance), alone)
    why = _why_parted(twins) or incomparable(comparison, twins)
    return Unchecked(what, why) if why else Twinned(twins, comparison, unchecked)


def _why_parted(twins: Run) -> str:
    path = twins.folder / PARTED
    return path.read_text(encoding="utf-8") if path.exists() else ""
