"""What a folder holds: scripts that train, their frameworks, what starts them. Nothing is run or imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hvdkit.files import read_file
from hvdkit.source.project.texts import files_in
from hvdkit.source.read.source import Unreadable, parse

MOST = 2000  # files that are read
LARGEST = 1 << 20  # bytes of one file
FRAMEWORKS = {"torch": "PyTorch", "tensorflow": "TensorFlow", "keras": "Keras"}
LAUNCHERS = {
    "torchrun": r"\btorchrun\b|torch\.distributed\.(?:run|launch)\b",
    "horovodrun": r"\bhorovodrun\b",
    "mpirun": r"\bmpi(?:run|exec)\b",
    "Slurm": r"^#SBATCH\b|\bsrun\b",
    "Kubernetes": r"^kind: (?:PyTorchJob|MPIJob|TFJob)\b",
}
STARTS = (".sh", ".sbatch", ".slurm", ".yaml", ".yml", ".md")
TRAINS = re.compile(rb"\.backward\(|\.fit\(|GradientTape|\.minimize\(")


@dataclass(frozen=True)
class Script:
    """A script that trains, by its path below the folder; the packages that it imports."""

    name: str
    imports: frozenset[str]
    main: bool

    @property
    def uses_horovod(self) -> bool:
        """Whether it imports Horovod, or hvdkit's form of it."""
        return bool({"horovod", "hvdkit"} & self.imports)


@dataclass(frozen=True)
class Folder:
    """What was found. horovod: the installed version, "" where there is none."""

    scripts: tuple[Script, ...]
    frameworks: tuple[str, ...]
    launchers: tuple[str, ...]
    horovod: str
    framework_installed: bool

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "scripts": [script.name for script in self.scripts],
            "frameworks": list(self.frameworks),
            "launchers": list(self.launchers),
            "uses_horovod": [script.name for script in self.scripts if script.uses_horovod],
            "horovod": self.horovod,
            "framework_installed": self.framework_installed,
        }


def look(folder: Path) -> Folder:
    """What the folder holds, in at most MOST files; scripts with a main guard come first."""
    scripts: list[Script] = []
    launchers: set[str] = set()
    for file in _files(folder):
        raw = _read(file)
        if file.suffix == ".py":
            if script := _script(file, file.relative_to(folder).as_posix(), raw):
                scripts.append(script)
        else:
            text = raw.decode("utf-8", errors="replace")
            launchers |= {name for name, form in LAUNCHERS.items() if re.search(form, text, re.MULTILINE)}
    scripts.sort(key=lambda script: (not script.main, script.name.count("/"), script.name))
    imported = {name for script in scripts for name in script.imports}
    return Folder(
        tuple(scripts),
        tuple(title for name, title in FRAMEWORKS.items() if name in imported),
        tuple(name for name in LAUNCHERS if name in launchers),
        _installed("horovod"),
        any(find_spec(name) for name in FRAMEWORKS),
    )


def _files(folder: Path) -> Iterator[Path]:
    number = 0
    for file in files_in([folder]):
        if file.suffix in (".py", *STARTS):
            number += 1
            if number > MOST:
                return
            yield file


def _read(file: Path) -> bytes:
    """What a file holds; nothing where it is too long, or cannot be read."""
    try:
        return read_file(file, LARGEST)
    except OSError:
        return b""


def _script(file: Path, name: str, raw: bytes) -> Script | None:
    """A file that imports a framework and trains; none where it is something else, or no Python."""
    if not TRAINS.search(raw):
        return None
    source = parse(file, raw)
    if isinstance(source, Unreadable):
        return None
    imported: set[str] = set()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imported.add(node.module.partition(".")[0])
    if not imported & {*FRAMEWORKS, "horovod", "hvdkit"}:
        return None
    return Script(name, frozenset(imported), "__main__" in source.text)


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
