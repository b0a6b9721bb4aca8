"""How far a single-process original and its migration are compared where no number of steps was asked for.

The original runs by itself first, until it has reached what its code has: the end of an epoch, an
evaluation, a file that it saves or loads. The ranks of the migrated, each with its share of the data, reach
that within as many steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hvdkit.observe.records import TO_END, Run
from hvdkit.verify.hook.ending import ENDED
from hvdkit.verify.hook.settings import Settings
from hvdkit.verify.reached import steps_to
from hvdkit.verify.scene import Scene

MOST_STEPS, SECONDS = 200, 30.0  # of the original, to reach what it has
NOTE = "compared {0}, to reach: {1} (--steps N or --to-end for fewer or more)"


def reaching(settings: Settings, until: Sequence[str]) -> Settings:
    """Those under which an original goes on until it has reached these, within the budget."""
    if not until:
        return settings
    most = max(settings.steps, MOST_STEPS)
    return replace(settings, steps=most, least=settings.steps, until=tuple(until), seconds=SECONDS)


def far_enough(scene: Scene, original: Run, until: Sequence[str]) -> tuple[Scene, Run, tuple[str, ...]]:
    """The scene in which as many steps are taken as the original needed, its run so far, and a note."""
    if not until:
        return scene, original, ()
    if any((original.folder / ENDED).glob("*")):
        steps, extent = TO_END, "to the end of the original"
    else:
        steps = steps_to(original, until, scene.request.steps)
        extent = f"{steps} steps"
    request = replace(scene.request, steps=steps, reach=False)
    so_far = {rank: tuple(s for s in taken if s.number <= steps) for rank, taken in original.steps.items()}
    note = NOTE.format(extent, ", ".join(until))
    return replace(scene, request=request), replace(original, steps=so_far), (note,)
