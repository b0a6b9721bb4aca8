"""What a project needs besides what the image underneath holds: what it says itself, else what it imports."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hvdkit.credentials import REFERENCE, masked, replaced
from hvdkit.docker.distributions import distribution_of
from hvdkit.docker.layout import local_roots, project_files, top_modules
from hvdkit.docker.left_out import is_left_out
from hvdkit.docker.script import Script
from hvdkit.errors import HvdkitError
from hvdkit.files import is_inside, read_file
from hvdkit.toml import NotToml, parse_toml

# In the image already, compiled for each other: another version of one of them would end the others.
_HELD = re.compile(
    r"(torch|functorch|triton|horovod|hvdkit|setuptools|pip|tensorflow(-(cpu|gpu|intel))?|tf-keras|keras|nvidia-.+)"
)
_HELD_MODULES = frozenset(
    ("torch", "functorch", "triton", "horovod", "hvdkit", "tensorflow", "keras", "numpy")
)
# One release of these fits one release of torch: pip takes the one that fits the image's.
_FOLLOW_TORCH = frozenset(("torchvision", "torchaudio"))
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_OF_THE_PROJECT = re.compile(r"(-e|--editable)\s+\.|\.(\[|/|$)")


class RequirementsError(HvdkitError):
    """What the project says it needs cannot be read, or cannot be put into the image."""


@dataclass(frozen=True)
class Secret:
    """What pip needs for a private index and no image may hold. variable: of who builds the image.

    path, line: where it is asked for. written: its value stands there.
    """

    variable: str
    path: Path
    line: int
    written: bool


@dataclass(frozen=True)
class Requirements:
    """lines: for pip, in the project's order, without credentials. source: their file, or "imports".

    changed: (as written, what the image has instead). unknown: (file, line, module) of imports that no
    distribution is known for. secrets: what `${VARIABLE}` in the lines stands for.
    files: that the lines are from.
    """

    source: str
    lines: tuple[str, ...]
    changed: tuple[tuple[str, str], ...] = ()
    unknown: tuple[tuple[Path, int, str], ...] = ()
    secrets: tuple[Secret, ...] = ()
    files: tuple[Path, ...] = ()


@dataclass(frozen=True)
class _Written:
    """A requirement as it is written. line: its number in the file, from 1."""

    text: str
    path: Path
    line: int


def find_requirements(context: Path, script: Script) -> Requirements:
    """What requirements.txt says, else pyproject.toml, else what the script and its files import.

    context: the project's folder. Raises: RequirementsError.
    """
    listed = context / "requirements.txt"
    if os.path.lexists(listed):
        return _for_image(listed.name, _lines(listed, (), context))
    project = _project_table(context / "pyproject.toml", context)
    if "dependencies" in project.get("dynamic", ()):
        raise RequirementsError(
            f"{context / 'pyproject.toml'}: its dependencies are dynamic: its build backend makes them",
            "what the script needs would be missing in the image",
            "pip freeze > requirements.txt in the environment that the script runs in",
        )
    if "dependencies" in project:
        return _for_image(
            "pyproject.toml", _dependencies(context / "pyproject.toml", project["dependencies"])
        )
    return _of_imports(context, script)


def _for_image(source: str, lines: Iterable[_Written]) -> Requirements:
    """Lines without what the image holds, without versions that only another torch would fit, and without
    credentials."""
    kept, changed = [], []
    secrets: dict[str, Secret] = {}
    variables: dict[str, str] = {}
    files: dict[Path, None] = {}
    for written in lines:
        line = written.text
        files[written.path] = None
        found = _NAME.match(line)
        name = re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""
        if _OF_THE_PROJECT.match(line):
            changed.append((masked(line), "the project itself, which is copied"))
        elif _HELD.fullmatch(name):
            changed.append((masked(line), "the image's own"))
        elif name in _FOLLOW_TORCH and line != name:
            changed.append((masked(line), f"the {name} that fits the image's torch"))
            kept.append(name)
        else:
            kept.append(_without_credentials(written, secrets, variables))
    return Requirements(
        source,
        tuple(dict.fromkeys(kept)),
        tuple(changed),
        secrets=tuple(secrets.values()),
        files=tuple(files),
    )


def _without_credentials(written: _Written, secrets: dict[str, Secret], variables: dict[str, str]) -> str:
    """The line with `${VARIABLE}`, which pip fills in, for each credential. Adds to secrets (by variable)
    what the line needs, and to variables the one of each credential."""

    def variable(credential: str) -> str:
        name = variables.setdefault(credential, f"REQUIREMENTS_SECRET_{len(variables) + 1}")
        secrets.setdefault(name, Secret(name, written.path, written.line, True))
        return f"${{{name}}}"

    line = replaced(written.text, variable)
    for name in REFERENCE.findall(line):
        secrets.setdefault(name, Secret(name, written.path, written.line, False))
    return line


def _dependencies(file: Path, dependencies: Iterable[str]) -> Iterator[_Written]:
    """The dependencies of pyproject.toml, with the line that each is on."""
    lines = read_file(file).decode().splitlines()
    for text in dependencies:
        yield _Written(text, file, next((number for number, line in enumerate(lines, 1) if text in line), 1))


def _read(file: Path, context: Path) -> bytes:
    """A file of the project, and of nothing else: what it says is printed, and copied into the image.

    Raises: OSError; RequirementsError.
    """
    real = os.path.realpath(file)
    if not is_inside(file, context):
        seen = (
            f"{file} is outside {context}"
            if real == str(file)
            else f"{file} leads to {real}, outside {context}"
        )
    elif is_left_out(file, context):
        seen = f"{file} is a file that .dockerignore keeps out of the image"
    else:
        return read_file(file)
    raise RequirementsError(
        seen,
        "its lines would be in docker-requirements.txt, and in the image; nothing of it was read",
        f"copy the lines that the script needs into {context / 'requirements.txt'}",
    )


def _lines(file: Path, including: tuple[Path, ...], context: Path) -> Iterator[_Written]:
    """A requirements file's lines without comments, continued ones joined, included files in their place."""
    try:
        text = _read(file, context).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise RequirementsError(f"{file} cannot be read: {error}", fix="make it a UTF-8 file") from error
    for number, written in _joined(text):
        line = " ".join(re.sub(r"(^|\s)#.*", "", written).split())
        if "--hash" in line:
            raise RequirementsError(
                f"{file} gives hashes: {line.split()[0]}",
                "pip then requires the hash of everything, and the image's own torch and Horovod have none",
                "pass hvdkit docker a requirements.txt without hashes",
            )
        included = re.fullmatch(r"(?:-r[\s=]*|--requirement[\s=]+)(.+)", line)
        if included:
            other = Path(os.path.normpath(file.parent / included[1]))
            if other in including:
                raise RequirementsError(f"{file} includes itself through {other}", fix="remove the line")
            yield from _lines(other, (*including, file), context)
        elif line:
            yield _Written(line, file, number)


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """The lines with those that a backslash continues, and the number of the first of each."""
    begun, first = "", 1
    for number, line in enumerate(text.splitlines(), 1):
        first = first if begun else number
        if line.endswith("\\"):
            begun += line[:-1] + " "
            continue
        yield first, begun + line
        begun = ""
    if begun:
        yield first, begun


def _project_table(file: Path, context: Path) -> dict[str, list[str]]:
    """[project] of pyproject.toml, empty where there is none."""
    if not os.path.lexists(file):
        return {}
    try:
        table = parse_toml(_read(file, context))
    except (OSError, NotToml) as error:
        raise RequirementsError(f"{file} cannot be read: {error}", fix="correct the file") from error
    project = table.get("project", {})
    lists = (
        [project.get(key, []) for key in ("dependencies", "dynamic")] if isinstance(project, dict) else [0]
    )
    if not all(isinstance(each, list) and all(isinstance(text, str) for text in each) for each in lists):
        raise RequirementsError(
            f"{file}: its project.dependencies and project.dynamic are no lists of texts",
            "what the script needs would be missing in the image",
            'dependencies = ["numpy>=1.26"]',
        )
    if "poetry" in table.get("tool", {}) and "dependencies" not in project:
        raise RequirementsError(
            f"{file}: its dependencies are in Poetry's own format",
            "pip does not read it: what the script needs would be missing in the image",
            "poetry export --without-hashes -o requirements.txt",
        )
    found: dict[str, list[str]] = project
    return found


def _of_imports(context: Path, script: Script) -> Requirements:
    if sys.version_info < (3, 10):
        raise RequirementsError(
            f"{context} has no requirements.txt, and this Python is {sys.version.split()[0]}",
            "the list of Python's own modules requires Python 3.10 or later",
            "pip freeze > requirements.txt in the environment that the script runs in",
        )
    lines, unknown = [], []
    for names in project_files(context, script):
        own = sys.stdlib_module_names  # novm
        known = {*own, *_HELD_MODULES, *local_roots(context, script, names)}
        for module, line in top_modules(names).items():
            if module in known:
                continue
            distribution = distribution_of(module)
            if distribution:
                lines.append(distribution)
            else:
                unknown.append((names.source.path, line, module))
    return Requirements("imports", tuple(sorted(set(lines), key=str.lower)), (), tuple(unknown))
