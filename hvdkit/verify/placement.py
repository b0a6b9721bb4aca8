"""What a program makes of the hosts of its ranks: the same on one host as on two, or what the original makes.

The migrated runs on two hosts of one rank. There it must compute what the original does on one host, where it
is at home: that finds a local rank or a local size in the place of a rank or a size, also where the original
has it already. The first step is taken once more on one host, where two ranks share what a host has. Three
ranks and more need no second run: one of the two hosts has several already.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hvdkit.observe.records import Run, Step
from hvdkit.verify import shapes
from hvdkit.verify.cause import Cause
from hvdkit.verify.compare import compare, writers
from hvdkit.verify.detect import Launcher, Start, reads_place
from hvdkit.verify.devices import check_devices
from hvdkit.verify.differences import Difference
from hvdkit.verify.hook.settings import Settings
from hvdkit.verify.invariant import Invariant
from hvdkit.verify.invariants import OF_TORCH, Causes, check_invariants
from hvdkit.verify.judge import Verification, judge
from hvdkit.verify.runner import HangError, RunError
from hvdkit.verify.scene import Scene
from hvdkit.verify.tolerance import tolerance_for

HOROVOD = Start(Launcher.HOROVOD)
LOCAL_FOR_RANK = Cause(
    "HVD307",
    "what a rank computes depends on its host: a local rank or local size is used where hvd.rank() "
    "or hvd.size() is intended",
)
ON_ONE_HOST = "on 1 host of 2 ranks the migrated takes the same first step as on 2 hosts of 1 rank"
BY_PLACE = (
    "{0} depends on the hosts in both scripts: they agree with each other on 1 host of {1} ranks and on {2}, "
    "with different values on each"
)
PREPARED = (
    "on two hosts one rank per host writes the files that a single rank prepares on one host, before training"
)
BY_BATCH = (
    "on {0} each rank takes batches of a different size than on 1 host of {1} ranks, where every value "
    "agrees: the script divides a batch by the ranks of a host. The original starts its ranks on 1 host "
    "only, so values on two hosts are not compared"
)


def may_depend_on_place(scene: Scene) -> bool:
    """Whether the migrated reads what differs by host, and was placed on two hosts that nobody has chosen."""
    asked = scene.request
    placed = scene.place(HOROVOD, asked.world)
    return asked.hosts is None and len(placed.hosts) > 1 and reads_place(asked.migrated)


def on_other_hosts(
    scene: Scene, start: Start, settings: Settings, result: Verification
) -> tuple[Verification, bool]:
    """The result for an original on one host and the migrated on two, completed by runs on other hosts.

    And whether the two agreed on any hosts: then the original repeats itself.
    """
    if not result.holds:
        return _why_not_on_two(scene, start, settings, result)
    if scene.request.world > 2:
        return result, True
    original = result.comparison.original
    here = first_step_on_one_host(scene, settings)
    first = judge(scene, *_common(original, here))
    if not first.holds:
        note = "on 2 hosts of 1 rank they agree; this is 1 host of 2 ranks"
        return replace(first, notes=(*first.notes, note)), True
    if all(held.holds for held in check_devices((original, shapes.together(original.world)))):
        devices = _devices(scene, result.comparison.migrated, here)
        result = replace(result, invariants=(*result.invariants, *devices))
    return replace(result, notes=(*result.notes, ON_ONE_HOST)), True


def on_several_ranks(
    scene: Scene, one: Run, run: Run, settings: Settings, causes: Causes
) -> tuple[Invariant, ...]:
    """What holds of a run on two hosts, held against one on 1 rank, and of its first step on one host.

    settings: of the run on two hosts.
    """
    if not may_depend_on_place(scene):
        return check_invariants(one, run, causes)
    here = first_step_on_one_host(scene, settings)
    found = check_invariants(one, files_of_one_host(run, here), causes)
    return (*found, _same_on_one_host(scene, run, here), *_devices(scene, run, here))


def _same_on_one_host(scene: Scene, apart: Run, here: Run) -> Invariant:
    """The migrated's first step on one host is the one that it takes on two; there is no original to ask."""
    name = "ranks compute the same on one host as on two"
    one, other = _common(apart, here)
    found = compare(one, other, tolerance_for(one.world, scene.request.tolerance)).differences
    if not found:
        return Invariant(name, True, "the first step, every bit")
    first = found[0]
    what = f"{first.stage.value} {first.name}".rstrip()
    seen = f"{what}: {first.original} on two hosts, {first.migrated} on one"
    return Invariant(name, False, f"{seen} (rank {first.rank}, step {first.step})", LOCAL_FOR_RANK)


def _devices(scene: Scene, apart: Run, here: Run) -> Iterator[Invariant]:
    """Those that ranks ask for in a run on two hosts and in its first step on one."""
    world = apart.world
    return check_devices((apart, scene.place(HOROVOD, world)), (here, shapes.together(world)))


def files_of_one_host(apart: Run, here: Run) -> Run:
    """A run on two hosts in which files that each host prepares before training (a download) have one writer.

    Those are the ones that a single rank writes on one host; they are right where hosts share no disk.
    """
    once = {name for (name, number), ranks in writers(here).items() if number == 1 and len(ranks) == 1}

    def prepared(step: Step) -> Step:
        kept = tuple(name for name in step.writes if name not in once)
        return replace(step, writes=kept) if step.number == 1 else step

    first = min(apart.steps)
    steps = {
        rank: taken if rank == first else tuple(map(prepared, taken)) for rank, taken in apart.steps.items()
    }
    return Run(apart.folder, steps)


def first_step_on_one_host(scene: Scene, settings: Settings) -> Run:
    """The migrated's first step with all ranks on one host."""
    asked = scene.request
    whose = "script" if asked.original == asked.migrated else "migrated"
    title = f"{whose} on one host of {asked.world} ranks"
    return scene.run(title, asked.migrated, HOROVOD, replace(settings, steps=1), shapes.together(asked.world))


def _why_not_on_two(
    scene: Scene, start: Start, settings: Settings, result: Verification
) -> tuple[Verification, bool]:
    """They differ. If the migrated agrees on one host, then the hosts make the difference, and it must be one
    that the original makes, too."""
    asked = scene.request
    original, migrated = result.comparison.original, result.comparison.migrated
    one_host = shapes.together(asked.world)
    title = f"migrated on one host of {asked.world} ranks"
    run = scene.run(title, asked.migrated, HOROVOD, settings, one_host)
    here = judge(scene, original, run)
    if not here.holds:
        return result, False
    prepared = judge(scene, original, files_of_one_host(migrated, run))
    if prepared.holds:
        return replace(prepared, notes=(*prepared.notes, PREPARED)), True
    two = shapes.described(scene.place(HOROVOD, asked.world))
    # A file that each host writes once is right where hosts have disks of their own, if the original does it.
    told = [i for i in check_invariants(original, migrated) if i.cause != OF_TORCH.writer]
    if all(invariant.holds for invariant in told):
        first = result.comparison.differences[0]
        if _agrees_on_two(scene, start, settings, migrated):
            note = BY_PLACE.format(f"{first.stage.value} {first.name}".rstrip(), asked.world, two)
            return replace(here, notes=(*here.notes, note)), True
        if start.launcher is not Launcher.TORCHRUN and _other_batch_size(original, migrated, first):
            return replace(here, notes=(*here.notes, BY_BATCH.format(two, asked.world))), True
    return replace(result, causes=(LOCAL_FOR_RANK, *result.causes)), True


def _agrees_on_two(scene: Scene, start: Start, settings: Settings, migrated: Run) -> bool:
    """Whether an original that torchrun can place on two hosts computes there what the migrated does."""
    if start.launcher is not Launcher.TORCHRUN:
        return False
    asked = scene.request
    try:
        original = scene.run(
            "original on two hosts", asked.original, start, settings, shapes.apart(asked.world)
        )
    except (RunError, HangError):
        return False  # it is right on one host alone
    return original.world == migrated.world and judge(scene, original, migrated).holds


def _other_batch_size(original: Run, migrated: Run, first: Difference) -> bool:
    sizes = [
        [len(draw.indices) for step in _at(run, first) for draw in step.draws[:1]]
        for run in (original, migrated)
    ]
    return sizes[0] != sizes[1]


def _at(run: Run, where: Difference) -> Iterator[Step]:
    for steps in run.steps.values():
        yield from (step for step in steps if (step.optimizer, step.number) == (where.optimizer, where.step))


def _common(one: Run, other: Run) -> tuple[Run, Run]:
    """Both with the moments that every rank of both has."""
    moments = [
        {(step.optimizer, step.number) for step in steps}
        for run in (one, other)
        for steps in run.steps.values()
    ]
    both = set.intersection(*moments)

    def only(run: Run) -> Run:
        kept = {
            rank: tuple(step for step in steps if (step.optimizer, step.number) in both)
            for rank, steps in run.steps.items()
        }
        return Run(run.folder, kept)

    return only(one), only(other)
