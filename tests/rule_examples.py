"""The examples of the rules: the two in each rule's own file, and the programs beside the tests.

tests/migrate/examples/HVD404 and tests/check/examples/HVD801 hold one program a file:

    NAME.py        a header of comments, an empty line, and the program
    NAME.after.py  what the rule makes of it, to the byte; only for a change
    NAME/          train.py, train.after.py and the project's other files, for a program of several files

The header says what the rule does, and why:

    # Changed: REASON    (or "# Changed.") the rule rewrites the program to NAME.after.py
    # Kept: REASON       it must neither touch nor report it
    # Reported: REASON   it reports it, and leaves its code as it is
    # Options: --target hvdkit --suggested
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from hvdkit.migrate.catalog.rule import Change, Keep, Rule

TESTS = Path(__file__).parent
KINDS = ("Changed", "Kept", "Reported")


def changes(rules: Iterable[Rule]) -> list[object]:
    """(rule, Change) for each program that one of these rules rewrites, as parameters of a test."""
    return [_parameter(rule, name, one) for rule, name, one in examples(rules) if isinstance(one, Change)]


def keeps(rules: Iterable[Rule]) -> list[object]:
    """(rule, Keep) for each program that one of these rules leaves as it is, as parameters of a test."""
    return [_parameter(rule, name, one) for rule, name, one in examples(rules) if isinstance(one, Keep)]


def _parameter(rule: Rule, name: str, example: Change | Keep) -> object:
    return pytest.param(rule, example, id=f"{rule.id}-{name}")


def examples(rules: Iterable[Rule]) -> Iterator[tuple[Rule, str, Change | Keep]]:
    """Every example with its rule and its name; the two of the rule's page are named change and keep."""
    for rule in rules:
        for number, change in enumerate(rule.changes):
            yield rule, f"change{number or ''}", change
        for number, keep in enumerate(rule.keeps):
            yield rule, f"keep{number or ''}", keep
        yield from ((rule, name, example) for name, example in in_files(folder_of(rule)))


def folder_of(rule: Rule) -> Path:
    """The folder of a rule's examples; a rule with two examples or fewer has none."""
    _, command, *_ = rule.check.__module__.split(".")
    return TESTS / command / "examples" / rule.id


def in_files(folder: Path) -> Iterator[tuple[str, Change | Keep]]:
    """The examples in a folder, by name."""
    if not folder.exists():
        return
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            yield path.name, _read(path / "train.py", tuple(_others(path)))
        elif not path.name.endswith(".after.py"):
            yield path.stem, _read(path, ())


def _others(project: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(project.rglob("*")):
        name = path.relative_to(project).as_posix()
        if path.is_file() and name not in ("train.py", "train.after.py"):
            yield name, path.read_bytes().decode()


def _read(path: Path, files: tuple[tuple[str, str], ...]) -> Change | Keep:
    header, _, program = path.read_bytes().decode().partition("\n\n")
    lines = header.splitlines()
    assert all(line.startswith("# ") for line in lines), f"{path} begins with a header of comments"
    options = lines.pop()[2:].split()[1:] if lines[-1].startswith("# Options: ") else []
    kind, colon, reason = " ".join(line[2:] for line in lines).partition(": ")
    if not colon:
        kind = kind.rstrip(".")
    assert kind in KINDS, f"{path} says Changed, Kept or Reported"
    after = path.with_name(f"{path.stem}.after.py")
    assert after.exists() == (kind == "Changed"), f"{path} says Changed where {after.name} is there"
    suggested = "--suggested" in options
    target = options[options.index("--target") + 1] if "--target" in options else "horovod"
    if kind == "Changed":
        return Change(program, after.read_bytes().decode(), reason, target, suggested, files)
    assert target == "horovod", f"{path}: a program that stays as it is has no --target"
    return Keep(program, reason, kind == "Reported", suggested, files)
