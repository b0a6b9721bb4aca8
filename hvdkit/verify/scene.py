"""What was asked for, and the place where its runs are made: a work copy and hosts for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from hvdkit.errors import UsageError
from hvdkit.launch.hosts import HostList
from hvdkit.notebook import NOTEBOOK, program_beside, program_of
from hvdkit.verify import shapes
from hvdkit.verify.detect import Launcher, Start
from hvdkit.verify.hook.settings import Settings
from hvdkit.verify.records import Run
from hvdkit.verify.runner import Job, run_job
from hvdkit.verify.workcopy import inside_copy, make_surroundings, make_work_copy

# Those whose ranks `--hosts` places; the others start their processes where they are.
PLACED = (Launcher.HOROVOD, Launcher.TORCHRUN, Launcher.MPI)


@dataclass(frozen=True)
class Request:
    """What the command line asked for. world: ranks. timeout: seconds without a step.

    hosts: where ranks are placed; None for this machine, under two names. migrated_in: the folder that the
    migrated script is run from, when that is not the current one.
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
    hosts: HostList | None = None
    migrated_in: Path | None = None


@dataclass(frozen=True)
class Scene:
    """Where runs are made: the user's folder, and a scratch folder for the copies and records."""

    request: Request
    here: Path
    scratch: Path
    progress: Callable[[str], None]

    def run(
        self, title: str, script: Path, start: Start, settings: Settings, hosts: HostList | None = None
    ) -> Run:
        """Make one run in a work copy of its own, on these hosts or those of `place`.

        Raises what `run_job` raises.
        """
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
            hosts=hosts or self.place(start, settings.world),
            notebook=placed if placed.suffix == NOTEBOOK else None,
        )
        return run_job(job, self.progress)

    def place(self, start: Start, world: int) -> HostList:
        """The hosts of a run: one for an original on this machine, two for a migration.

        An original is right where it is started today, and that may be on one host alone: it may take the
        local rank for the rank. MPI counts all ranks of this machine as of one host, whatever its names.
        """
        asked = self.request.hosts
        if asked is not None and world == asked.slots and start.launcher in PLACED:
            return asked
        two = start.launcher is Launcher.HOROVOD and self.request.controller == "gloo"
        return shapes.apart(world) if two else shapes.together(world)


def _program(script: Path, work: Path) -> Path:
    """The file that Python runs: of a notebook, the program that is made beside it in the work copy."""
    if script.suffix != NOTEBOOK:
        return script
    if not script.is_relative_to(work):
        raise UsageError(
            f"{script} is outside the current folder",
            "the program of a notebook is written next to it, in a copy of the current folder",
            "cd to the project's folder and run it there",
        )
    program = program_beside(script)
    program.write_text(program_of(script), encoding="utf-8")
    return program
