"""`hvdkit migrate --verify`: run the script as it is and as the plan would leave it, before it is written."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hvdkit.errors import HvdkitError, UsageError
from hvdkit.migrate.plan import Plan
from hvdkit.shell import word
from hvdkit.source.notebook import NOTEBOOK
from hvdkit.verify.detect import Launcher, how_to_start
from hvdkit.verify.judge import Verification
from hvdkit.verify.options import show_progress
from hvdkit.verify.scene import Request
from hvdkit.verify.session import verify
from hvdkit.verify.workcopy import make_view, put_file


class NotHorovod(HvdkitError):
    """The plan leaves the script without Horovod, so that there is nothing to run."""


def verified(
    plan: Plan, script: Path, arguments: tuple[str, ...], run: dict[str, Any], back: bool
) -> Verification:
    """Run the script and its migration side by side; the migrated files exist in a temporary copy only.

    script: absolute. arguments: the script's own. run: the remaining fields of a verify request. back:
    whether the script uses Horovod, and its migration DDP: then the migration is run as the original.
    Raises what `verify` raises when either cannot be run to a result.
    """
    here = Path.cwd()
    _check_places(plan, script, here)
    # As Ctrl-C: a command that is told to stop must not leave two jobs behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="hvdkit-migrate-") as scratch:
        project = Path(scratch).resolve() / "project"
        make_view(here, project)
        rewritten = tuple(file.path.relative_to(here) for file in plan.changed)
        for place, file in zip(rewritten, plan.changed):
            put_file(project, place, file.after.encode(file.encoding))
        migrated = project / script.relative_to(here)
        places: dict[str, Any]
        if back:
            with _inside(project):
                places = {"migrated_in": here, "rewritten": rewritten}
                return verify(Request(migrated, script, arguments, **run, **places), show_progress)
        if how_to_start(migrated).launcher is not Launcher.HOROVOD:
            raise NotHorovod(
                f"{script.name} does not use Horovod after the rewrite: nothing was run, nothing was written",
                "something left or refused is in the way, or a different file is the one to start",
                f"hvdkit migrate {word(script.relative_to(here))} shows what is left",
            )
        places = {"migrated_in": project, "rewritten": rewritten}
        return verify(Request(script, migrated, arguments, **run, **places), show_progress)


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """A folder as the current one."""
    here = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)


def _check_places(plan: Plan, script: Path, here: Path) -> None:
    """Both runs are made in copies of the current folder; what lies elsewhere would not be in them."""
    outside = [path for path in (script, *(file.path for file in plan.changed)) if here not in path.parents]
    if outside:
        raise UsageError(
            f"{outside[0]} is outside the current folder",
            "--verify runs the script in copies of the current folder, one with the migrated files",
            "cd to the project's folder and run it there",
        )


def script_to_run(paths: list[Path]) -> Path:
    """The script among the paths: the first that is a file. Raises UsageError when all are folders."""
    script = next((path for path in paths if path.suffix in (".py", NOTEBOOK) and path.is_file()), None)
    if script is None:
        raise UsageError(
            f"--verify runs one script, and {' '.join(path.name for path in paths)} names none",
            "a folder does not determine which of its files is started",
            f"hvdkit migrate train.py {' '.join(word(path.name or '.') for path in paths)} --verify, "
            "the script first",
        )
    return script
