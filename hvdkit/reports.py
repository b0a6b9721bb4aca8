"""Options that ask for a report: one form for all of them, and a file that is not a report is never replaced.

`--json` is standard output, `--json=FILE` a file, `--json -` standard output, too: none of them is given the
next word, which may be a script.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from hvdkit import shell
from hvdkit.earlier import is_report
from hvdkit.errors import UsageError
from hvdkit.files import OutputError, narrowest, write_output
from hvdkit.printable import encodable, printable

STDOUT = Path("-")
# What people write by hand, by the end of its name: a report is never written there.
_SOURCE = re.compile(
    r"\.(py[iwx]?|ipynb|(ba|z)?sh|sbatch|slurm|ya?ml|cfg|ini|md|rst|tex|[ch](c|h|pp|xx)?|cuh?|go|java|jl|js|lua|pl"
    r"|r|rb|rs|ts)",
    re.IGNORECASE,
)
_SOURCE_NAME = re.compile(
    r"(Docker|Make|Snake|Jenkins)file(\..*)?|\..*ignore|.*requirements.*\.txt|CMakeLists\.txt"
)
_SUFFIXES = {"--perfetto": ".json"}  # of a report that is not named after its option


class _Stored(argparse.Action):
    """An option whose value is kept as it is."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        setattr(namespace, self.dest, values)


class Report(_Stored):
    """An option that asks for a report."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:
        super().__init__(option_strings, dest, nargs="?", const=STDOUT, type=Path, metavar="FILE", help=help)

    known = staticmethod(is_report)

    def at(self, file: str | Path) -> str:
        """The option as it is typed with a file."""
        return f"{self.option_strings[0]}={file if file == STDOUT else shell.word(file)}"

    @property
    def suffix(self) -> str:
        """How its files are called."""
        (option,) = self.option_strings
        return _SUFFIXES.get(option, f".{option.lstrip('-')}")


class Output(_Stored):
    """An option whose whole use is to name a file that is written: `--output FILE`.

    known: whether a file is an earlier one of its kind.
    """

    def __init__(
        self,
        option_strings: Sequence[str],
        dest: str,
        known: Callable[[Path], bool],
        help: str,
        default: Path | None = None,
    ) -> None:
        super().__init__(option_strings, dest, type=Path, metavar="FILE", help=help, default=default)
        self.known = known

    def at(self, file: str | Path) -> str:
        """The option as it is typed with a file."""
        return f"{self.option_strings[-1]} {shell.word(file)}"

    @property
    def suffix(self) -> str:
        """How its files are called."""
        return Path(str(self.default or ".json")).suffix


def add_reports(group: argparse._ActionsContainer, helps: Mapping[str, str]) -> None:
    """The options that ask for reports, and --force, which lets them replace any file. helps: by option."""
    for option, what in helps.items():
        group.add_argument(option, action=Report, help=f"{what}, on standard output or in FILE")
    add_force(group)


def add_force(group: argparse._ActionsContainer) -> None:
    """--force, where a command has none that means more."""
    if "--force" not in group._option_string_actions:
        group.add_argument("--force", action="store_true", help="let a report replace any file but a source")


def spelled(parser: argparse.ArgumentParser, words: Sequence[str]) -> list[str]:
    """The words with `=-` behind each report that names no file. Raises: UsageError.

    argparse would take the next word for the file.
    """
    rest, found = list(words), list[str]()
    while rest:
        word = rest.pop(0)
        if word == "--":
            return [*found, word, *rest]
        report = _report(parser, word)
        if report is not None:
            if rest[:1] == [str(STDOUT)]:
                rest.pop(0)
            elif rest:
                _refuse_file_as_word(report, rest[0])
            word = report.at(STDOUT)
        found.append(word)
    return found


def meant(parser: argparse.ArgumentParser, words: Sequence[str], unknown: Sequence[str]) -> Iterator[str]:
    """The reports that a word which is not known stands behind, with it as their file."""
    for option, word in zip(words, words[1:]):
        report = _report(parser, option)
        if report is not None and word in unknown:
            yield report.at(word)


def check(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> None:
    """Raises: UsageError where two reports have the same place, or one may not be written to its place."""
    places = {
        action: getattr(asked, action.dest)
        for action in parser._actions
        if isinstance(action, (Report, Output)) and getattr(asked, action.dest) is not None
    }
    seen: dict[str, str] = {}
    read: list[Path] | None = None
    for action, place in places.items():
        typed = action.at(place)
        is_stdout = isinstance(action, Report) and place == STDOUT
        other = seen.setdefault("" if is_stdout else os.path.realpath(place), typed)
        if other is not typed:
            raise UsageError(
                f"{other} and {typed} are the same place",
                "one report would overwrite the other",
                f"give one of them a different file: {action.at(f'hvdkit{action.suffix}')}",
            )
        if not is_stdout:
            if read is None:
                read = list(_named_files(asked, {each.dest for each in places}))
            _check_file(action, place, read, getattr(asked, "force", False))


def free_stdout(*places: Path | None) -> TextIO:
    """Where what is said to people goes: standard error where a report has standard output."""
    return sys.stderr if STDOUT in places else sys.stdout


def withdraw(*places: Path | None) -> None:
    """Remove earlier reports from where new ones will be: none passes for that of a run which failed.

    Raises: OutputError.
    """
    for place in places:
        if place not in (None, STDOUT) and place.is_file():
            try:
                Path(os.path.realpath(place)).unlink()
            except OSError as error:
                raise OutputError(
                    f"cannot replace {place}: {error.strerror}", fix=f"rm {shell.word(place)}"
                ) from error


def put(place: Path, report: str | bytes, sources: Iterable[Path] = ()) -> None:
    """Write a report to its place. Raises: OutputError.

    sources: the files whose text is in it; who may not read one of them may not read the report.
    """
    data = printable(report).encode() if isinstance(report, str) else report
    if place != STDOUT:
        write_output(place, data, narrowest(sources))
    elif isinstance(report, str):
        sys.stdout.write(printable(report))
    else:
        sys.stdout.buffer.write(data)


def put_json(place: Path, data: object, sources: Iterable[Path] = (), indent: int | None = 2) -> None:
    """Write data as JSON that every reader takes: half a character in a text ends some."""
    text = json.dumps(_encodable(data), indent=indent).replace("\x7f", "\\u007f")  # which json leaves
    put(place, f"{text}\n", sources)


def _encodable(data: object) -> Any:
    if isinstance(data, dict):
        return {_encodable(key): _encodable(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_encodable(value) for value in data]
    return encodable(data) if isinstance(data, str) else data


def _report(parser: argparse.ArgumentParser, word: str) -> Report | None:
    """The report that a word asks for, as argparse takes beginnings of options."""
    if not word.startswith("--") or "=" in word:
        return None
    known = parser._option_string_actions
    fits = [known[word]] if word in known else [known[name] for name in known if name.startswith(word)]
    return fits[0] if len(fits) == 1 and isinstance(fits[0], Report) else None


def _refuse_file_as_word(report: Report, word: str) -> None:
    """Raises: UsageError where the word behind an option can only be meant as the report's file."""
    path = Path(word)
    if path.suffix == report.suffix and (not os.path.lexists(path) or is_report(path)):
        raise UsageError(
            f"{report.option_strings[0]} {word}: the option does not take the next word",
            f"{word} would be read, and not written",
            report.at(word),
        )


def _named_files(asked: argparse.Namespace, reports: set[str]) -> Iterator[Path]:
    """The files that a command line names besides those of reports: it reads them."""
    for name, value in vars(asked).items():
        if name not in reports:
            for each in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(each, (str, Path)) and os.path.isfile(each):  # noqa: PTH113, a name may be too long
                    yield Path(each)


def _check_file(action: Report | Output, place: Path, read: Sequence[Path], force: bool) -> None:
    typed, instead = action.at(place), f"name a different file: {action.at(f'hvdkit{action.suffix}')}"
    try:
        if is_source(place):
            raise UsageError(f"{typed}: that is a source file, by its name or first line", "", instead)
        there = place.exists()  # what a link leads to: where that is nothing, nothing is lost
        if there and not (place.is_file() or place.is_dir()):
            return  # a device or a pipe
        folder = Path(os.path.realpath(place)).parent
        if seen := no_place(place, folder):
            raise UsageError(f"{typed}: {seen}", "the report could not be written when it is made", instead)
        if any(there and place.samefile(each) for each in read):
            raise UsageError(f"{typed}: the command reads this file", "the report would replace it", instead)
    except OSError as error:
        raise UsageError(f"{typed}: {error.strerror or error}", "", instead) from error
    if there and not force and not action.known(place):
        raise UsageError(
            f"{typed}: the file exists, and is no earlier report of hvdkit's",
            "its contents would be lost; nothing was written",
            f"{instead}, or add --force",
        )


def no_place(place: Path, folder: Path) -> str:
    """Why no file can be written there, in the folder that its links lead to."""
    if place.is_dir():
        return "it is a folder"
    if not folder.is_dir():
        return f"there is no folder {folder}"
    return "" if os.access(folder, os.W_OK | os.X_OK) else f"you may not write in {folder}"


def is_source(path: Path) -> bool:
    """Whether a file is a source, by its name, by that of what a link leads to, or by its first two bytes."""
    real = Path(os.path.realpath(path))
    if any(_SOURCE.fullmatch(each.suffix) or _SOURCE_NAME.fullmatch(each.name) for each in (path, real)):
        return True
    if not real.is_file():
        return False
    with real.open("rb") as file:
        return file.read(2) == b"#!"
