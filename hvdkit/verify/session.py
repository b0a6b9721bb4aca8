"""One verification from two scripts to a result: detect, copy, run, compare.

A distributed original is run on as many ranks as the migrated. A single-process original is compared on one
rank, and the migrated checked by itself on several.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from hvdkit.errors import HvdkitError, UsageError
from hvdkit.launch.horovodrun import find_horovodrun
from hvdkit.notebook import NOTEBOOK, program_beside, program_of
from hvdkit.verify import tensorflow
from hvdkit.verify.causes import Cause, likely_causes
from hvdkit.verify.compare import Comparison, compare
from hvdkit.verify.detect import Launcher, Start, how_to_start
from hvdkit.verify.differences import pairs_of
from hvdkit.verify.hook.settings import Settings
from hvdkit.verify.invariants import OF_TORCH, Invariant, check_invariants
from hvdkit.verify.records import ADASUM, FLOAT16, Run
from hvdkit.verify.runner import Job, run_job
from hvdkit.verify.tolerance import tolerance_for
from hvdkit.verify.workcopy import inside_copy, make_surroundings, make_work_copy

REPLAYED = (
    "the original is one process: on 1 rank its sample order was replayed in the migrated run and the random "
    "state set at each batch and step in both (a sharding sampler draws another order than shuffle=True)"
)
FLOAT16_IN_BOTH = (
    "the migrated compresses gradients to float16: in the original DDP's average was rounded to float16 "
    "where Horovod rounds"
)
ADASUM_IN_BOTH = (
    "the migrated combines updates by Adasum: each of Horovod's results is held against the closed form, "
    "which took the place of DDP's average in the original"
)
UNREPEATABLE = (
    "the original does not repeat itself: two runs of it differ too, first in {0.stage.value} {0.name}, step "
    "{0.step}; seed what it leaves to chance (time, unordered sets, unseeded generators) and verify again"
)


class RoleError(HvdkitError):
    """The original is already Horovod, or the migrated script is not."""


class WorldError(HvdkitError):
    """The original makes another number of ranks than was asked for, or one that cannot be compared."""


@dataclass(frozen=True)
class Request:
    """What the command line asked for. world: ranks. timeout: seconds without a step.

    migrated_in: the folder that the migrated script is run from, when that is not the current one.
    """

    original: Path
    migrated: Path
    arguments: tuple[str, ...] = ()
    world: int = 2
    steps: int = 5
    controller: str = "gloo"
    cpu: bool = False
    tolerance: float | None = None
    timeout: float = 300.0
    migrated_in: Path | None = None


@dataclass(frozen=True)
class Verification:
    """The result. invariants: for a single-process original, what holds on several ranks."""

    comparison: Comparison
    causes: tuple[Cause, ...]
    invariants: tuple[Invariant, ...]
    notes: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """The migrated script computes what the original does."""
        return self.comparison.agree and all(invariant.holds for invariant in self.invariants)


@dataclass(frozen=True)
class Scene:
    """Where runs are made: the user's folder, and a scratch folder for the copies and records."""

    request: Request
    here: Path
    scratch: Path
    progress: Callable[[str], None]

    def run(self, title: str, script: Path, start: Start, settings: Settings) -> Run:
        """Make one run in a work copy of its own. Raises what `run_job` raises."""
        folder = self.scratch / title.replace(" ", "-")
        is_original = start.launcher is not Launcher.HOROVOD
        source = self.here if is_original else self.request.migrated_in or self.here
        work = make_surroundings(self.here, folder / "work")
        make_work_copy(source, work)
        placed = inside_copy(script, source, work)
        job = Job(
            title=title,
            script=_program(placed, work),
            arguments=self.request.arguments,
            start=start,
            here=self.here,
            folder=folder,
            work=work,
            settings=replace(settings, folder=str(folder / "record"), local_rank_flag=start.local_rank_flag),
            controller=self.request.controller,
            timeout=self.request.timeout,
            notebook=placed if placed.suffix == NOTEBOOK else None,
        )
        return run_job(job, self.progress)


def _program(script: Path, work: Path) -> Path:
    """The file that Python runs: of a notebook, the program that is made beside it in the work copy."""
    if script.suffix != NOTEBOOK:
        return script
    if not script.is_relative_to(work):
        raise UsageError(
            f"{script} lies outside the current folder",
            "the program of a notebook is made beside it, in a copy of the current folder",
            "cd to the project's folder and run it there",
        )
    program = program_beside(script)
    program.write_text(program_of(script), encoding="utf-8")
    return program


def verify(request: Request, progress: Callable[[str], None]) -> Verification:
    """Run both scripts and compare them. Raises an HvdkitError when either cannot be run to a result."""
    start = how_to_start(request.original)
    if start.launcher is Launcher.HOROVOD:
        raise RoleError(
            f"{request.original} uses Horovod already",
            why="the first script is the original, the second its migration",
            fix="hvdkit verify ORIGINAL MIGRATED",
        )
    if how_to_start(request.migrated).launcher is not Launcher.HOROVOD:
        raise RoleError(
            f"{request.migrated} does not import Horovod",
            why="each of its ranks would train alone",
            fix=f"hvdkit migrate {request.migrated}",
        )
    find_horovodrun()  # before minutes are spent on the original
    with tempfile.TemporaryDirectory(prefix="hvdkit-verify-") as scratch:
        scene = Scene(request, Path.cwd(), Path(scratch).resolve(), progress)
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
    migrated = scene.run("migrated", asked.migrated, Start(Launcher.HOROVOD), settings)
    original, settings = _original_alike(scene, start, settings, original, migrated)
    result = judge(scene, original, migrated)
    if result.holds:
        return result
    again = judge(scene, original, scene.run("original again", asked.original, start, settings))
    if again.holds:
        return result
    return replace(result, notes=(*result.notes, UNREPEATABLE.format(again.comparison.differences[0])))


def _original_alike(
    scene: Scene, start: Start, settings: Settings, original: Run, migrated: Run
) -> tuple[Run, Settings]:
    """The original's run that reduces as the migrated one did, and its settings; another where it must be."""
    alike = reducing_alike(settings, migrated)
    if alike == settings:
        return original, settings
    return scene.run("original, reducing alike", scene.request.original, start, alike), alike


def reducing_alike(settings: Settings, migrated: Run) -> Settings:
    """The settings under which an original reduces its gradients as this run of Horovod did."""
    seen = {event.what for steps in migrated.steps.values() for step in steps for event in step.events}
    return replace(settings, float16=FLOAT16 in seen, adasum=ADASUM in seen)


def judge(scene: Scene, original: Run, migrated: Run, invariants: tuple[Invariant, ...] = ()) -> Verification:
    """Compare two runs of equal world size that this scene made."""
    comparison = compare(original, migrated, tolerance_for(original.world, scene.request.tolerance))
    start = how_to_start(scene.request.original)
    notes = tuple(_notes(scene, start, original, migrated))
    causes = likely_causes(comparison)
    if start.tensorflow:
        causes = tuple(map(tensorflow.named, causes))
    return Verification(comparison, causes, invariants, notes)


def _against_one_process(scene: Scene, start: Start) -> Verification:
    """On as many ranks as the original's strategy has devices, else on one; then alone on those asked for."""
    asked = scene.request
    divided = start.launcher is Launcher.STRATEGY
    count = asked.world if divided else 1
    if count > 2 and asked.tolerance is None:
        raise WorldError(
            f"{asked.original} uses a tf.distribute strategy, on {count} devices",
            why="more than two are added in another order than Horovod's, and 1 / n may round",
            fix="--np 2, where every bit must agree, or --tolerance X",
        )
    settings = Settings(
        "", count, asked.steps, cpu=asked.cpu or divided, align=True, replicas=count if divided else 1
    )
    horovod = Start(Launcher.HOROVOD)
    original = scene.run("original", asked.original, start, settings)
    replayed = replace(settings, world=original.world, replay=str(original.folder), replicas=1)
    title = f"migrated on {original.world} rank{'s' if original.world > 1 else ''}"
    alike = scene.run(title, asked.migrated, horovod, replayed)
    invariants: tuple[Invariant, ...] = ()
    if asked.world > 1:
        wide = Settings("", asked.world, asked.steps, cpu=asked.cpu)
        title = f"migrated by itself on {asked.world} ranks"
        causes = tensorflow.CAUSES if start.tensorflow else OF_TORCH
        invariants = check_invariants(original, scene.run(title, asked.migrated, horovod, wide), causes)
    original, _ = _original_alike(scene, start, settings, original, alike)
    return judge(scene, original, alike, invariants)


def _notes(scene: Scene, start: Start, original: Run, migrated: Run) -> Iterator[str]:
    """What a reader should know about how the result came about."""
    asked = scene.request
    if start.launcher is Launcher.SINGLE:
        yield tensorflow.REPLAYED if start.tensorflow else REPLAYED
    if start.launcher is Launcher.STRATEGY:
        yield tensorflow.DIVIDED.format(original.world)
    if start.tensorflow:
        yield tensorflow.EAGER
    taken = max(map(original.taken, original.steps))
    if taken < asked.steps:
        yield f"the original ended after {taken} of {asked.steps} steps"
    if asked.cpu:
        yield "--device cpu: what asked for CUDA ran on the CPU, autocast regions in float32"
    if original.world > 1 and not start.tensorflow and any(step.buffers for step in original.steps[0]):
        yield "buffers are compared on rank 0: DDP copies rank 0's to the others before each forward"
    alike = reducing_alike(Settings("", original.world, asked.steps), migrated)
    yield from ((FLOAT16_IN_BOTH,) if alike.float16 else ())
    yield from ((ADASUM_IN_BOTH,) if alike.adasum else ())
    yield from _collectives(original, migrated)
    outside = {
        name
        for run in (original, migrated)
        for steps in run.steps.values()
        for s in steps
        for name in s.writes
    }
    yield from (
        f"written outside the work copies: {name}" for name in sorted(outside) if name.startswith("/")
    )


def _collectives(original: Run, migrated: Run) -> Iterator[str]:
    """The first of the script's own collectives that gives something else; a sum and an average may both be
    right, if what follows fits, so this is told and not judged."""
    for pair in pairs_of(original, migrated):
        for kind in dict.fromkeys(call.kind for call in pair.one.collectives):
            one, other = (
                [call.norm for call in step.collectives if call.kind == kind]
                for step in (pair.one, pair.other)
            )
            apart = [(a, b) for a, b in zip(one, other) if not math.isclose(a, b, rel_tol=1e-5)]
            if apart and len(one) == len(other):
                a, b = apart[0]
                reason = ": a sum in one and an average in the other?" if kind == "allreduce" else ""
                yield (
                    f"the script's own {kind} gave {a:.9g} in the original and {b:.9g} in the migrated "
                    f"(Euclidean norm), before step {pair.one.number}{reason}"
                )
                return
