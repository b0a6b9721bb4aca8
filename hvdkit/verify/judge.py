"""Two runs of one scene compared, with the notes that a reader of the result needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hvdkit.observe.records import ADASUM, DDP, FLOAT16, SENDS_BUFFERS, SPLIT, TO_END, Run
from hvdkit.verify import tensorflow
from hvdkit.verify.cause import Cause
from hvdkit.verify.causes import likely_causes
from hvdkit.verify.collectives import told
from hvdkit.verify.compare import Comparison, compare
from hvdkit.verify.detect import Launcher, Start
from hvdkit.verify.hook.settings import Settings
from hvdkit.verify.invariant import Invariant, Unchecked, exit_code
from hvdkit.verify.scene import Scene
from hvdkit.verify.tolerance import tolerance_for
from hvdkit.verify.twins.remarks import printed_otherwise
from hvdkit.verify.unreached import Unreached, unreached

REPLAYED = (
    "the original is one process: on 1 rank its sample order was replayed in the migrated run and the random "
    "state set at each batch and step in both (a sharding sampler draws a different order from shuffle=True)"
)
FLOAT16_IN_BOTH = (
    "the migrated compresses gradients to float16: in the original DDP's average was rounded to float16 "
    "where Horovod rounds"
)
UNCOMPRESSED = (
    "the migrated compresses gradients to float16, and the original averages them itself, in their own type: "
    "the migrated was made to send them as they are, and what float16 rounds is not compared"
)
UNCOMPRESSED_TWINS = (
    "the migrated compresses gradients to float16: it was made to send them as they are, and what float16 "
    "rounds is not compared"
)
TWINS = (
    "the original is one process: it was run as {0} processes, each with the batches and random states of a "
    "rank of the migrated, and their gradients were averaged when the migrated averages"
)
SPLIT_OTHERWISE = (
    "the migrated splits the data by other random numbers than the original, which was given its parts: {0}"
)
ADASUM_IN_BOTH = (
    "the migrated combines updates by Adasum: each of Horovod's results is compared with the "
    "closed form, which replaced DDP's average in the original"
)


@dataclass(frozen=True)
class Verification:
    """The result. invariants: for a single-process original, what holds on several ranks; unchecked: what was
    not seen of that. not_reached: what the migrated has and did not do within the steps."""

    comparison: Comparison
    causes: tuple[Cause, ...]
    invariants: tuple[Invariant, ...]
    notes: tuple[str, ...]
    not_reached: tuple[Unreached, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()

    @property
    def holds(self) -> bool:
        """The migrated script computes what the original does, as far as that was checked."""
        return self.comparison.agree and all(invariant.holds for invariant in self.invariants)

    @property
    def code(self) -> int:
        """The exit code that says so."""
        return exit_code(self.holds, self.unchecked)


def reducing_alike(settings: Settings, migrated: Run) -> Settings:
    """The settings under which an original reduces its gradients as this run of Horovod did."""
    seen = {event.what for steps in migrated.steps.values() for step in steps for event in step.events}
    return replace(settings, float16=FLOAT16 in seen, adasum=ADASUM in seen)


def averaged_by_ddp(original: Run) -> bool:
    """Whether DistributedDataParallel, of which another average can be asked, averages its gradients."""
    return any(
        event.what == DDP for steps in original.steps.values() for step in steps for event in step.events
    )


def judge(
    scene: Scene,
    original: Run,
    migrated: Run,
    invariants: tuple[Invariant, ...] = (),
    comparison: Comparison | None = None,
) -> Verification:
    """Compare two runs of equal world size that this scene made, unless they are compared already."""
    if comparison is None:
        comparison = compare(original, migrated, tolerance_for(original.world, scene.request.tolerance))
    start = scene.start_of_original
    notes = tuple(_notes(scene, start, original, migrated))
    causes = likely_causes(comparison)
    if start.tensorflow:
        causes = tuple(map(tensorflow.named, causes))
    missed = not_reached_by(scene, migrated)
    return Verification(comparison, causes, invariants, notes, missed)


def not_reached_by(scene: Scene, run: Run) -> tuple[Unreached, ...]:
    """What the migrated script has and did not do in this run."""
    asked = scene.request
    ended = max(map(run.taken, run.steps)) < asked.steps
    return unreached(asked.migrated, run, ended)


def _notes(scene: Scene, start: Start, original: Run, migrated: Run) -> Iterator[str]:
    """What a reader should know about how the result came about."""
    asked = scene.request
    twins = start.launcher is Launcher.SINGLE and original.world > 1
    if twins:
        yield TWINS.format(original.world)
        yield from printed_otherwise(original, migrated)
    elif start.launcher is Launcher.SINGLE:
        yield tensorflow.REPLAYED if start.tensorflow else REPLAYED
    if start.launcher is Launcher.STRATEGY:
        yield tensorflow.DIVIDED.format(original.world)
    taken = max(map(original.taken, original.steps))
    if taken < asked.steps < TO_END:
        yield f"the original ended after {taken} of {asked.steps} steps"
    if (
        original.world > 1
        and not twins
        and not start.tensorflow
        and any(event.what == SENDS_BUFFERS for step in original.steps[0] for event in step.events)
    ):
        yield "buffers are compared on rank 0: DDP copies rank 0's to the others before each forward"
    alike = reducing_alike(Settings("", original.world, asked.steps), migrated)
    if alike.float16 and twins:
        yield UNCOMPRESSED_TWINS
    elif alike.float16:
        yield FLOAT16_IN_BOTH if averaged_by_ddp(original) or alike.adasum else UNCOMPRESSED
    yield from ((ADASUM_IN_BOTH,) if alike.adasum else ())
    events = (event for run in (original, migrated) for step in run.steps[0] for event in step.events)
    parts = sorted({event.detail for event in events if event.what == SPLIT})
    yield from ((SPLIT_OTHERWISE.format(", ".join(parts)),) if parts else ())
    yield from told(original, migrated)
    yield from notes_of_runs(scene, start, (original, migrated))


def notes_of_runs(scene: Scene, start: Start, runs: tuple[Run, ...]) -> Iterator[str]:
    """What is true of all runs, whatever they are compared with."""
    if start.tensorflow:
        yield tensorflow.EAGER
    if scene.request.cpu:
        yield "--device cpu: code that uses CUDA ran on the CPU, autocast regions in float32"
    outside = {name for run in runs for steps in run.steps.values() for s in steps for name in s.writes}
    yield from (
        f"written outside the current folder: {name}"
        for name in sorted(outside)
        if name.startswith("/") and not scene.protects(name)
    )
