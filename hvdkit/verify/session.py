"""One verification from two scripts to a result: detect, copy, run, run, compare."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hvdkit.errors import HvdkitError
from hvdkit.verify.causes import Cause, likely_causes
from hvdkit.verify.compare import Comparison, compare
from hvdkit.verify.detect import Launcher, Start, how_to_start
from hvdkit.verify.hook.settings import Settings
from hvdkit.verify.records import Run
from hvdkit.verify.runner import Job, run_job
from hvdkit.verify.tolerance import tolerance_for
from hvdkit.verify.workcopy import inside_copy, make_work_copy


class WrongRole(HvdkitError):
    """The original is already Horovod, or the migrated script is not."""


@dataclass(frozen=True)
class Request:
    """What the command line asked for."""

    original: Path
    migrated: Path
    arguments: tuple[str, ...] = ()
    world: int = 2
    steps: int = 5
    controller: str = "gloo"
    cpu: bool = False
    tolerance: float | None = None
    timeout: float = 300.0


@dataclass(frozen=True)
class Verification:
    """The result."""

    comparison: Comparison
    causes: tuple[Cause, ...]
    notes: tuple[str, ...]


def verify(request: Request, progress: Callable[[str], None]) -> Verification:
    """Run both scripts and compare them. Raises an HvdkitError when either cannot be run to a result."""
    start = how_to_start(request.original)
    if start.launcher is Launcher.HOROVOD:
        raise WrongRole(
            f"{request.original} uses Horovod already",
            why="the first script is the original, the second its migration",
            fix="hvdkit verify ORIGINAL MIGRATED",
        )
    if how_to_start(request.migrated).launcher is not Launcher.HOROVOD:
        raise WrongRole(
            f"{request.migrated} does not import Horovod",
            why="each of its ranks would train alone",
            fix=f"hvdkit migrate {request.migrated}",
        )
    with tempfile.TemporaryDirectory(prefix="hvdkit-verify-") as scratch:
        here = Path.cwd()

        def run(title: str, script: Path, how: Start) -> Run:
            folder = Path(scratch, title)
            make_work_copy(here, folder / "work")
            settings = Settings(
                str(folder / "record"),
                request.world,
                request.steps,
                local_rank_flag=how.local_rank_flag,
                cpu=request.cpu,
            )
            return run_job(
                Job(
                    title,
                    inside_copy(script, here, folder / "work"),
                    request.arguments,
                    how,
                    folder,
                    settings,
                    request.controller,
                    request.timeout,
                ),
                progress,
            )

        original = run("original", request.original, start)
        migrated = run("migrated", request.migrated, Start(Launcher.HOROVOD))
        comparison = compare(original, migrated, tolerance_for(request.world, request.tolerance))
        return Verification(comparison, likely_causes(comparison), ())
