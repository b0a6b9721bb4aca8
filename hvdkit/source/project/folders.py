"""Folders of source, listed once: where the file of a module is, and which folders an import may mean."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

INSTALLED = ("site-packages", "dist-packages")  # what lies here together is not one project


class Folders:
    """What lies in the folders, looked up once: most imports are of libraries, and found nowhere."""

    def __init__(self) -> None:
        self._listed: dict[Path, set[str]] = {}
        self._importable: dict[Path, set[str]] = {}
        self._around: dict[Path, list[Path]] = {}
        self._modules: dict[tuple[Path, str], Path | None] = {}

    def entries(self, folder: Path) -> set[str]:
        """The names in a folder; none where there is no such folder."""
        if folder not in self._listed:
            self._listed[folder] = {entry.name for entry in os.scandir(folder)} if folder.is_dir() else set()
        return self._listed[folder]

    def around(self, folder: Path) -> list[Path]:
        """A folder, the one around it, and those around that as long as they are packages."""
        if folder not in self._around:
            found = self._around[folder] = [folder]
            while found[-1].parent != found[-1] and found[-1].parent.name not in INSTALLED:
                if len(found) > 1 and "__init__.py" not in self.entries(found[-1]):
                    break
                found.append(found[-1].parent)
        return self._around[folder]

    def importable(self, folder: Path) -> set[str]:
        """The names of the modules in a folder, and of the folders in it."""
        if folder not in self._importable:
            self._importable[folder] = {entry.removesuffix(".py") for entry in self.entries(folder)}
        return self._importable[folder]

    def module(self, folder: Path, name: str) -> Path | None:
        """The file of a module, by its dotted name; without a name, the folder's own __init__.py."""
        if name and name.partition(".")[0] not in self.importable(folder):
            return None
        if (folder, name) not in self._modules:
            self._modules[folder, name] = self._module(folder, name.split(".") if name else [])
        return self._modules[folder, name]

    def matching(self, folder: Path, below: Sequence[re.Pattern[str]]) -> list[Path]:
        """The files of the modules whose names below a folder match, in their order."""
        entries = sorted(self.entries(folder)) if below else []
        if len(below) > 1:
            inside = [folder / entry for entry in entries if below[0].fullmatch(entry)]
            return [path for each in inside for path in self.matching(each, below[1:])]
        return [
            folder / entry
            for entry in entries
            if entry.endswith(".py") and below[0].fullmatch(entry.removesuffix(".py"))
        ]

    def _module(self, folder: Path, parts: list[str]) -> Path | None:
        path = folder.joinpath(*parts)
        if parts and path.with_suffix(".py").is_file():
            return path.with_suffix(".py")
        init = path / "__init__.py"
        return init if init.is_file() else None
