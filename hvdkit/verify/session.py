"""One verification from scripts to a result: detect, copy, run, compare.

A distributed original is run on as many ranks as the migrated. A single-process original is run as twins,
one for each rank of the migrated; where it cannot be, it is compared on one rank, and the migrated checked by
itself on several.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from hvdkit.errors import HvdkitError
from hvdkit.launch.horovodrun import find_horovodrun
from hvdkit.observe.records import Run
from hvdkit.shell import word
from hvdkit.verify import tensorflow
from hvdkit.verify.alone import Alone, check_alone
from hvdkit.verify.detect import Launcher, Start, how_to_start
from hvdkit.verify.differences import Stage
from hvdkit.verify.extents import far_enough, reaching
from hvdkit.verify.failures import failed
from hvdkit.verify.hook.settings import Settings
from hvdkit.verify.invariant import Checked, Invariant, Unchecked
from hvdkit.verify.invariants import OF_TORCH, beside_twins
from hvdkit.verify.judge import Verification, averaged_by_ddp, judge, reducing_alike
from hvdkit.verify.loaded import start_of_ranks
from hvdkit.verify.outputs import with_outputs
from hvdkit.verify.placement import HOROVOD, may_depend_on_place, on_other_hosts, on_several_ranks
from hvdkit.verify.runner import RunError
from hvdkit.verify.scale import STEPS, check_scale
from hvdkit.verify.scene import Request, Scene
from hvdkit.verify.scratch import scratch_folder
from hvdkit.verify.shares import unchecked_shares
from hvdkit.verify.tolerance import tolerance_for
from hvdkit.verify.twins.run import Twinned, run_twins
from hvdkit.verify.unreached import has

UNREPEATABLE = (
    "the original does not repeat itself: two runs of it differ, first in {0.stage.value} {0.name}, step "
    "{0.step}; seed its sources of randomness (time, unordered sets, unseeded generators) and verify again"
)


class RoleError(HvdkitError):
    """The original is already Horovod, or the migrated script is not."""


class WorldError(HvdkitError):
    """The original makes another number of ranks than was asked for, or one that cannot be compared."""


def verify_alone(request: Request, progress: Callable[[str], None]) -> Alone:
    """Check one Horovod script. Raises an HvdkitError when it cannot be run to a result."""
    start = how_to_start(request.migrated)
    if start.launcher is not Launcher.HOROVOD:
        script = word(request.migrated)
        raise RoleError(
            f"{request.migrated} does not import Horovod",
            why="a script without an original is checked as a Horovod job",
            fix=f"hvdkit migrate {script} --verify, or hvdkit verify {script} MIGRATED",
        )
    with scratch_folder(request.hosts, Path.cwd()) as scratch:
        scene = Scene(request, Path.cwd(), scratch, progress)
        _check_launcher(scene)
        return check_alone(scene, start, check_scale, STEPS)


def _check_launcher(scene: Scene) -> None:
    """Before minutes are spent on the original. Raises LauncherError."""
    if scene.python == sys.executable:  # any other was chosen for the Horovod that it has
        find_horovodrun()


def verify(request: Request, progress: Callable[[str], None]) -> Verification:
    """Run both scripts and compare them. Raises an HvdkitError when either cannot be run to a result."""
    start = how_to_start(request.original)
    if start.launcher is Launcher.HOROVOD:
        raise RoleError(
            f"{request.original} uses Horovod already",
            why="the first script should be the original, the second its migration",
            fix="hvdkit verify ORIGINAL MIGRATED",
        )
    if how_to_start(request.migrated).launcher is not Launcher.HOROVOD:
        raise RoleError(
            f"{request.migrated} does not import Horovod",
            why="each of its ranks would train alone",
            fix=f"hvdkit migrate {word(request.migrated)}",
        )
    with scratch_folder(request.hosts, Path.cwd()) as scratch:
        scene = Scene(request, Path.cwd(), scratch, progress)
        _check_launcher(scene)
        if start.launcher in (Launcher.SINGLE, Launcher.STRATEGY):
            return _against_one_process(scene, start)
        return _against_distributed(scene, start)


def _against_distributed(scene: Scene, start: Start) -> Verification:
    asked = scene.request
    settings = Settings("", asked.world, asked.steps, cpu=asked.cpu)
    original = scene.run("original", asked.original, start, settings)
    if original.world != asked.world:
        raise WorldError(
            f"{asked.original} trained on {original.world} ranks, not {asked.world}",
            why="it starts its processes itself, and ranks are compared one by one",
            fix=f"--np {original.world}",
        )
    migrated = scene.run("migrated", asked.migrated, HOROVOD, settings)
    original, migrated, settings = _reducing_alike(scene, start, settings, original, migrated)
    result = judge(scene, original, migrated)
    # What is missing, or shared, is no matter of chance: all values agree.
    repeats = all(
        d.stage in (Stage.COLLECTIVE, Stage.PRINTED, Stage.FILES, Stage.CONTENTS)
        for d in result.comparison.differences
    )
    if may_depend_on_place(scene):
        result, repeats = on_other_hosts(scene, start, settings, result)
    if repeats:
        return with_outputs(scene, start, settings, result)
    again = judge(scene, original, scene.run("original again", asked.original, start, settings))
    if again.holds:
        return result
    return replace(result, notes=(*result.notes, UNREPEATABLE.format(again.comparison.differences[0])))


def _reducing_alike(
    scene: Scene, start: Start, settings: Settings, original: Run, migrated: Run
) -> tuple[Run, Run, Settings]:
    """Both runs with one arithmetic of the average, and the settings for more; one is made again if it must.

    DDP can be made to round as Horovod does. An average of the script's own cannot, so nothing is rounded.
    """
    alike = reducing_alike(settings, migrated)
    if alike == settings:
        return original, migrated, settings
    if alike.adasum or averaged_by_ddp(original):
        original = scene.run("original, reducing identically", scene.request.original, start, alike)
        return original, migrated, alike
    exact = replace(settings, uncompressed=True)
    return original, scene.run("migrated, uncompressed", scene.request.migrated, HOROVOD, exact), exact


def _against_one_process(scene: Scene, start: Start) -> Verification:
    """As the ranks of the job, where it can be one; else on as many ranks as its strategy has devices or on
    one, and then the migrated alone on those asked for."""
    asked = scene.request
    divided = start.launcher is Launcher.STRATEGY
    count = asked.world if divided else 1
    if count > 2 and asked.tolerance is None:
        raise WorldError(
            f"{asked.original} uses a tf.distribute strategy, on {count} devices",
            why="more than two are summed in a different order than Horovod's, and 1 / n may round",
            fix="--np 2, where every bit must agree, or --tolerance X",
        )
    settings = Settings(
        "",
        count,
        asked.steps,
        cpu=asked.cpu or divided,
        align=True,
        replicas=count if divided else 1,
        keep=STEPS if asked.world > 1 and count == 1 else 0,
    )
    twinned = not divided and asked.world > 1
    wanted = has(asked.original) if asked.reach and twinned else ()
    original = scene.run("original", asked.original, start, reaching(settings, wanted))
    ranks = start_of_ranks(asked.original, original, scene.here)
    if ranks:
        scene.progress("original: it starts a process group; it is run again as ranks")
        return _against_distributed(replace(scene, request=replace(asked, started=ranks)), ranks)
    if asked.world == 1:
        return _replayed(scene, start, settings, original, None, None)
    scene, original, notes = far_enough(scene, original, wanted)
    asked, settings = scene.request, replace(settings, steps=scene.request.steps)
    wide = Settings(
        "", asked.world, asked.steps, cpu=asked.cpu, own=STEPS, twinned=twinned, uncompressed=twinned
    )
    title = f"migrated alone on {asked.world} ranks"
    try:
        run = scene.run(title, asked.migrated, HOROVOD, wide)
    except RunError as error:
        comparison = failed(original, error, tolerance_for(asked.world, asked.tolerance))
        if comparison is None:
            raise
        return Verification(comparison, (), (), notes)
    twins = run_twins(scene, start, wide, run, original) if twinned else None
    if not isinstance(twins, Twinned):
        return _replayed(scene, start, settings, original, (run, wide), twins)
    causes = tensorflow.CAUSES if start.tensorflow else OF_TORCH
    invariants = on_several_ranks(scene, original, run, wide, beside_twins(causes))
    result = judge(scene, twins.twins, run, invariants, twins.comparison)
    result = replace(result, notes=(*result.notes, *notes))
    shares = () if start.tensorflow else unchecked_shares(original, run, causes.shard)
    return replace(result, unchecked=(*twins.unchecked, *shares))


def _replayed(
    scene: Scene,
    start: Start,
    settings: Settings,
    original: Run,
    wide: tuple[Run, Settings] | None,
    unchecked: Unchecked | None,
) -> Verification:
    """The migrated on as many ranks as the original has, with its batches. wide: the migrated on those asked
    for, and its settings, for what must hold there. unchecked: why twins of the original do not show it."""
    asked = scene.request
    replayed = replace(settings, world=original.world, replay=str(original.folder), replicas=1, keep=0)
    title = f"migrated on {original.world} rank{'s' if original.world > 1 else ''}"
    alike = scene.run(title, asked.migrated, HOROVOD, replayed)
    invariants: tuple[Invariant, ...] = ()
    further = Checked()
    shares: tuple[Unchecked, ...] = ()
    if wide:
        causes = tensorflow.CAUSES if start.tensorflow else OF_TORCH
        invariants = on_several_ranks(scene, original, *wide, causes)
        shares = () if start.tensorflow else unchecked_shares(original, wide[0], causes.shard)
        further = check_scale(scene, settings, original, wide[0]) if settings.keep else further
    original, alike, _ = _reducing_alike(scene, start, settings, original, alike)
    result = judge(scene, original, alike, (*invariants, *further.invariants))
    twins = (unchecked,) if unchecked else ()
    return replace(result, unchecked=(*twins, *shares, *further.unchecked))
