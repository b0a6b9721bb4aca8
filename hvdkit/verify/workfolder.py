"""The folder that a run is made in: it looks like the current one, and nothing in that is written.

On this machine an overlay covers the current folder where it is, so that whatever the run writes, by whatever
means and under whatever name, is kept in the scratch folder. Where no overlay can be mounted, and for ranks
on other hosts, the run is made in a copy, and a shield keeps it from writing to the folder itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hvdkit.verify import overlay, shield
from hvdkit.verify.survey import Survey, survey
from hvdkit.verify.workcopy import copy_folder, make_surroundings, put_file

ELSEWHERE = "ranks on other hosts cannot share an overlay"


@dataclass(frozen=True)
class WorkFolder:
    """path: as the run's processes see it. within: what the run's command line begins with; of_rank: what the
    command line of each rank does."""

    path: Path
    within: tuple[str, ...] = ()
    of_rank: tuple[str, ...] = ()


class WorkFolders:
    """Makes the work folders of all runs. here: the current folder. scratch: where they are kept."""

    def __init__(self, here: Path, scratch: Path, progress: Callable[[str], None]) -> None:
        self.here = here
        self._scratch = scratch
        self._progress = progress

    @contextmanager
    def made(
        self, folder: Path, is_here: bool, files: Sequence[tuple[Path, Path]] = ()
    ) -> Iterator[WorkFolder]:
        """A work folder, for as long as a run needs it. folder: where it is kept. is_here: the run's
        processes are on this machine. files: (place in the current folder, file that the run finds there).

        Raises CopyError.
        """
        folder.mkdir(parents=True)
        try:
            if is_here and not self._no_overlay:
                yield self._covered(folder, files)
            else:
                yield self._copied(folder, files, is_here)
        finally:
            shutil.rmtree(folder, ignore_errors=True)  # what is left is removed with the scratch folder

    def protects(self, place: str) -> bool:
        """Whether an overlay covers a place outside the current folder, to which a link in it leads."""
        return not self._no_overlay and any(map(Path(place).is_relative_to, self._survey.outside))

    @cached_property
    def _survey(self) -> Survey:
        return survey(self.here, self._scratch)

    @cached_property
    def _no_overlay(self) -> str:
        """Why no overlay covers the current folder; "" where one does."""
        reason = self._obstacle() or self._tried()
        if reason:
            self._progress(f"no overlay can be mounted ({reason}): each run has copies of all files")
        return reason

    def _obstacle(self) -> str:
        found = self._survey
        if self._scratch.is_relative_to(self.here):
            return f"the folder for temporary files, {self._scratch.parent}, is inside the current folder"
        if found.unowned:
            return f"{found.unowned} leads to {os.path.realpath(found.unowned)}"
        if found.foreign and os.geteuid() != 0:
            return f"{found.foreign} belongs to a different user or group"
        return ""

    def _tried(self) -> str:
        folder = Path(tempfile.mkdtemp(dir=self._scratch))
        tried = subprocess.run(self._covered(folder, ()).within, capture_output=True, text=True)
        return tried.stderr.strip() if tried.returncode else ""

    def _covered(self, folder: Path, files: Sequence[tuple[Path, Path]]) -> WorkFolder:
        """Overlays, which the run's command line mounts."""
        covered = [str(each) for each in (self.here, *self._survey.outside)]
        plan = folder / "plan.json"
        overlay.Plan(
            tuple((each, str(folder / f"{number}")) for number, each in enumerate(covered)),
            tuple(map(str, self._survey.owned)),
            tuple((str(self.here / place), str(file)) for place, file in files),
            str(self.here),
        ).write(plan)
        return WorkFolder(self.here, (sys.executable, "-I", overlay.__file__, str(plan)))

    def _copied(self, folder: Path, files: Sequence[tuple[Path, Path]], is_here: bool) -> WorkFolder:
        """A copy, under a shield where the kernel has one: on other hosts each rank takes it up itself."""
        work = make_surroundings(self.here, folder)
        reason = self._no_overlay if is_here else ELSEWHERE
        shielded = shield.is_available()
        linked = copy_folder(self.here, work, self._scratch, reason, shielded)
        for place, file in files:
            put_file(work, place, file.read_bytes())
        if not shielded:
            return WorkFolder(work)
        if linked:
            more = f" and {len(linked) - 1} more" if len(linked) > 1 else ""
            self._progress(f"{linked[0]}{more}: too large to be copied, linked, and not to be written")
        plan = folder / "plan.json"
        outside = {str(path.parent) for path in linked if not path.is_relative_to(self.here)}
        shield.Plan((str(self.here), *sorted(outside)), (str(self._scratch),)).write(plan)
        command = (sys.executable, "-I", shield.__file__, str(plan))
        return WorkFolder(work, command) if is_here else WorkFolder(work, of_rank=command)
