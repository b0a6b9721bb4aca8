"""A file of the script's own has the name of a package and hides it."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from hvdkit.explain.cause import Cause, Level, Match
from hvdkit.explain.log import INSTALLED, Log, Traceback

# Python names the file in some of these; where not, it is in the traceback.
_ERRORS = tuple(
    re.compile(pattern)
    for pattern in (
        r"No module named '(?P<name>\w+)\.[\w.]+'; '(?P=name)' is not a package",
        r"consider renaming '(?P<file>[^']+\.py)' since",
        r"consider renaming '(?P<file>[^']+\.py)' if",
        r"partially initialized module '(?P<name>\w+)' .*\(most likely due to a circular import\)$",
        r"cannot import name '\w+' from (?:partially initialized module )?'(?P<name>\w+)'"
        r".* \((?P<file>[^()]+\.py)\)$",
    )
)
# Packages that are meant where a script says `import NAME`; any other name may be a module of the project.
_PACKAGES = ("horovod", "hvdkit", "torch", "torchvision", "tensorflow", "keras", "numpy", "mpi4py")


def find(log: Log) -> Match | None:
    if not log.is_job:
        return None
    return next((match for one in log.tracebacks for match in [_match(one)] if match), None)


def _match(error: Traceback) -> Match | None:
    for pattern in _ERRORS:
        found = pattern.search(error.error)
        if found is None:
            continue
        facts = {"name": "", "file": "", **found.groupdict()}
        name = facts["name"] or _module(facts["file"])
        file = facts["file"] or next((file for file in error.files if _module(file) == name), "")
        certain = pattern in _ERRORS[:2]  # Python itself says that it is no package, or what to rename
        if INSTALLED.search(file) or not (certain or (file and name in _PACKAGES)):
            continue
        where = "" if error.rank is None else f" on rank {error.rank}"
        return Match(error.number, {"file": file or f"a file called {name}.py", "name": name, "where": where})
    return None


def _module(file: str) -> str:
    """The name that a file, or the folder that it makes a package, is imported by."""
    path = PurePosixPath(file)
    return path.parent.name if path.stem == "__init__" else path.stem


CAUSE = Cause(
    id="module_hidden",
    title="{file} hides the package {name}{where}",
    why=(
        "`import {name}` takes the first {name} on Python's path, where the folder of the script comes first:"
        " the script's own file is imported in the place of the package."
    ),
    fix="rename {file} (and what imports it); remove the __pycache__ next to it",
    find=find,
    excerpt="""\
ModuleNotFoundError: No module named 'horovod.torch'; 'horovod' is not a package
""",
    level=Level.OWN,
    general={"file": "horovod.py", "name": "horovod"},
)
