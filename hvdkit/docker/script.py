"""What `hvdkit docker` has to know of a script, read as migrate and check read it, and never run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hvdkit.check.horovod import calls_in
from hvdkit.check.rules import all_rules
from hvdkit.errors import HvdkitError
from hvdkit.launch.preflight import UnfinishedError, refuse_unfinished
from hvdkit.migrate.engine import make_plan, run_pass
from hvdkit.migrate.facts import Options
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.plan import Reported
from hvdkit.printable import counted
from hvdkit.shell import word
from hvdkit.source.index.names import Names
from hvdkit.source.notebook import magics
from hvdkit.source.project.files import Project
from hvdkit.source.read.room import roomy

_HOROVOD = ("horovod", "tf-horovod")
_TENSORFLOW = ("tensorflow", "horovod.tensorflow", "horovod.keras", "hvdkit.tensorflow")
_USES = {
    "ddp": "uses torch.distributed",
    "single": "trains in one process",
    "tf-strategy": "uses tf.distribute",
    "tf-single": "trains in one process",
    "none": "neither trains nor starts Horovod",
}


class ScriptError(HvdkitError):
    """The script cannot be read, or is no program of its own."""


class NotHorovodError(HvdkitError):
    """The script does not start Horovod: its ranks would be unrelated copies."""


@dataclass(frozen=True)
class Script:
    """A script that starts Horovod. path: absolute. modules: those whose init() it calls.

    tensorflow: it, or what it imports of the project, imports TensorFlow or Horovod for it.

    files: its own and those of the project that it imports. findings: what hvdkit check finds in them.
    magics: (code cell, line) of a notebook that plain Python does not run.
    """

    path: Path
    modules: tuple[str, ...]
    tensorflow: bool
    project: Project
    files: tuple[Names, ...]
    findings: tuple[Reported, ...]
    magics: tuple[tuple[int, str], ...]

    @property
    def connects(self) -> bool:
        """Whether hvdkit's init() connects its ranks, under any launcher."""
        return all(module.startswith("hvdkit.") for module in self.modules)


@roomy
def read_script(path: Path) -> Script:
    """Read a script or a notebook, and what it imports. path: absolute.

    Raises: ScriptError; NotHorovodError; UnfinishedError where `hvdkit migrate` left something to the person.
    """
    done = run_pass([path], Options(), lambda _: all_rules())
    unreadable = done.project.unreadable.get(path)
    if unreadable:
        raise ScriptError(
            f"{path}, line {unreadable.line}: {unreadable.reason}",
            "a file that cannot be read does not run in an image either",
            "fix the file",
        )
    program = next((found for found in programs_of(done.facts) if found.entry.source.path == path), None)
    if program is None:
        raise ScriptError(
            f"{path} is imported by a file that it imports",
            "it is unclear which of them is the program",
            'add `if __name__ == "__main__":` to the script',
        )
    if program.kind not in _HOROVOD:
        raise _not_horovod(path, program.kind)
    for names in program.files:
        _refuse_unfinished(names.source.path)
    notebook = program.entry.source.notebook
    imported = set().union(*(names.modules for names in program.files))
    return Script(
        path,
        tuple(sorted({site.name.rpartition(".")[0] for site in calls_in(done.facts, program, "init")})),
        any(name.startswith(_TENSORFLOW) for name in imported),
        done.project,
        tuple(sorted(program.files, key=lambda names: names.source.path)),
        tuple(finding for file in done.files for finding in file.findings),
        magics(notebook) if notebook else (),
    )


def _not_horovod(path: Path, kind: str) -> NotHorovodError:
    """The refusal, with what `hvdkit migrate` would do about it."""
    seen = f"{path.name} {_USES[kind]}"
    if kind == "none":
        return NotHorovodError(
            seen, "in an image it would run as unrelated copies", "pass the script that starts the training"
        )
    plan = make_plan([path], Options())
    changed, left = counted(len(plan.changed), "file"), counted(len(plan.left), "thing")
    would = f"hvdkit migrate would rewrite {changed} and leave {left} to you"
    return NotHorovodError(
        f"{seen}, not Horovod",
        f"in several containers it would run as unrelated copies; {would}",
        f"hvdkit migrate {word(path.name)}, read the diff, then add --write; hvdkit docker after it",
    )


def _refuse_unfinished(path: Path) -> None:
    try:
        refuse_unfinished(str(path))
    except UnfinishedError as error:
        raise UnfinishedError(error.seen, error.why, "do what each line says, and remove it") from error
