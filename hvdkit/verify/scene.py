"""What was asked for, and the place where its runs are made: a work folder and hosts for each."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from hvdkit.errors import UsageError
from hvdkit.hosts.lists import HostList
from hvdkit.observe.records import Run
from hvdkit.source.notebook import NOTEBOOK, cells_of, program_beside, program_of
from hvdkit.verify import shapes
from hvdkit.verify.detect import Launcher, Start, how_to_start
from hvdkit.verify.hook.settings import Settings
from hvdkit.verify.interpreter import interpreter_of
from hvdkit.verify.runner import Job, run_job
from hvdkit.verify.workfolder import WorkFolders

# Those whose ranks `--hosts` places; the others start their processes where they are.
PLACED = (Launcher.HOROVOD, Launcher.TORCHRUN, Launcher.MPI)


@dataclass(frozen=True)
class Request:
    """What the command line asked for. world: ranks. timeout: seconds without a step. reach: more steps are
    taken, where it is known how many, to reach what the original has.

    hosts: where ranks are placed; None for this machine, under two names, or as one_host. migrated_in: where
    the migrated script and what it imports are read, when that is not the current folder; rewritten: the
    files in it that differ from those. started: how the original is, where a run has shown it.
    """

    original: Path
    migrated: Path
    arguments: tuple[str, ...] = ()
    world: int = 2
    steps: int = 5
    reach: bool = False
    controller: str = "gloo"
    cpu: bool = False
    tolerance: float | None = None
    timeout: float = 300.0
    hosts: HostList | None = None
    one_host: bool = False
    migrated_in: Path | None = None
    rewritten: tuple[Path, ...] = ()
    started: Start | None = None


@dataclass(frozen=True)
class Scene:
    """Where runs are made: the user's folder, and a scratch folder for what runs write and for records."""

    request: Request
    here: Path
    scratch: Path
    progress: Callable[[str], None]

    def run(
        self, title: str, script: Path, start: Start, settings: Settings, hosts: HostList | None = None
    ) -> Run:
        """Make one run in its own work folder, on these hosts or those of `place`.

        Raises what `run_job` and `WorkFolders.made` raise.
        """
        folder = Path(tempfile.mkdtemp(prefix=f"{title.replace(' ', '-')}-", dir=self.scratch))
        hosts = hosts or self.place(start, settings.world)
        own = _own_files(self, script, start, folder)
        more = range(1, settings.world if settings.twins else 1)
        with ExitStack() as made:
            work, *others = (
                made.enter_context(self._folders.made(folder / name, shapes.is_here(hosts), own.files))
                for name in ("work", *(f"work-{place}" for place in more))
            )
            job = Job(
                title=title,
                script=work.path / own.program if own.inside else own.program,
                read=own.read,
                python=self.python,
                arguments=self.request.arguments,
                start=start,
                here=self.here,
                folder=folder,
                work=work,
                settings=replace(
                    settings,
                    folder=str(folder / "record"),
                    local_rank_flag=start.local_rank_flag,
                    program=str(own.program) if own.notebook else "",
                    cells=cells_of(own.read, str(own.notebook)) if own.notebook else (),
                ),
                controller=self.request.controller,
                timeout=self.request.timeout,
                hosts=hosts,
                notebook=work.path / own.notebook if own.notebook else None,
                others=tuple(others),
            )
            return run_job(job, self.progress)

    @property
    def start_of_original(self) -> Start:
        """How the original is started."""
        return self.request.started or how_to_start(self.request.original)

    def protects(self, place: str) -> bool:
        """Whether a file outside the current folder is as it was, though the runs wrote there."""
        asked = self.request.hosts
        return (asked is None or shapes.is_here(asked)) and self._folders.protects(place)

    @cached_property
    def python(self) -> str:
        """The Python that runs both scripts."""
        return interpreter_of(self.request.original, self.here, self.progress)

    @cached_property
    def _folders(self) -> WorkFolders:
        return WorkFolders(self.here, self.scratch, self.progress)

    def place(self, start: Start, world: int) -> HostList:
        """The hosts of a run: one for an original on this machine, two for a migration.

        An original is right where it is started today, and that may be on one host alone: it may take the
        local rank for the rank. MPI counts all ranks of this machine as of one host, whatever its names.
        """
        asked = self.request.hosts
        if asked is not None and world == asked.slots and start.launcher in PLACED:
            return asked
        gloo = start.launcher is Launcher.HOROVOD and self.request.controller == "gloo"
        two = gloo and not self.request.one_host
        return shapes.apart(world) if two else shapes.together(world)


@dataclass(frozen=True)
class _Own:
    """What a run finds in its work folder that is not in the current one. read: where the script, or the
    notebook, can be read now. program: what Python runs; relative to the work folder where it is inside."""

    read: Path
    program: Path
    inside: bool
    files: tuple[tuple[Path, Path], ...]
    notebook: Path | None = None


def _own_files(scene: Scene, script: Path, start: Start, folder: Path) -> _Own:
    """Of a script's run. folder: where the program of a notebook can be kept."""
    view = scene.request.migrated_in if start.launcher is Launcher.HOROVOD else None
    read = Path(os.path.abspath(script)) if view else script.resolve()
    source = view or scene.here
    files = [(place, view / place) for place in scene.request.rewritten] if view else []
    if not read.is_relative_to(source):
        if read.suffix == NOTEBOOK:
            raise UsageError(
                f"{read} is outside the current folder",
                "the program of a notebook is written next to it, in a copy of the current folder",
                "cd to the project's folder and run it there",
            )
        return _Own(read, read, False, tuple(files))
    place = read.relative_to(source)
    if read.suffix != NOTEBOOK:
        return _Own(read, place, True, tuple(files))
    program = folder / "program.py"
    program.write_text(program_of(read), encoding="utf-8")
    beside = program_beside(read).relative_to(source)
    return _Own(read, beside, True, (*files, (beside, program)), place)
