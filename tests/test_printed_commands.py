"""Each `hvdkit ...` command line that hvdkit prints or documents is one that its parsers accept."""

from __future__ import annotations

import argparse
import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from hvdkit.cli import COMMANDS, main

ROOT = Path(__file__).parents[1]
NAMES = "|".join(map(re.escape, COMMANDS))
LINE = re.compile(rf"(?<![\w./-])hvdkit (?:{NAMES})(?![\w-])[^\n]*")
# Where a command ends in a sentence, at the latest.
END = re.compile(r"`|[;)]|\s{2,}|, | \| | && |[.:](?=\s|$)|,$| (?:2>&1|>|#)(?=\s|$)")
# What may stand for a value that the message fills in, or that a manual leaves open.
VALUES = ("1", "x.py", "gloo")


class Accepted(Exception):
    """The parser took the arguments; the command is not run."""


def texts(file: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of a page, or of each string of a module; an expression in an f-string is \\0."""
    if file.suffix == ".md":
        yield from enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        return
    inside = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):  # an f-string before its parts
        if isinstance(node, ast.JoinedStr):
            inside.update(map(id, node.values))
            parts = (str(v.value) if isinstance(v, ast.Constant) else "\0" for v in node.values)
            yield node.lineno, "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.lineno, node.value


def command_lines() -> dict[str, str]:
    """Text from the command to its end -> the place of the first."""
    files = [*(ROOT / "hvdkit").rglob("*.py"), *ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    found: dict[str, str] = {}
    for file in sorted(files):
        if file.name == "CHANGELOG.md":  # what commands were called before
            continue
        for number, text in texts(file):
            for hit in LINE.finditer(text):
                line = END.split(hit[0], maxsplit=1)[0].strip()
                if " -" in line or "\0" in line:  # without, a sentence names the command, not what to type
                    found.setdefault(line, f"{file.relative_to(ROOT)}:{number}")
    return found


LINES = command_lines()


def accepted(words: list[str], monkeypatch: pytest.MonkeyPatch) -> bool:
    parse = argparse.ArgumentParser.parse_known_args

    def parse_only(self: argparse.ArgumentParser, *args: list[str]) -> argparse.Namespace:
        _, unknown = parse(self, *args)
        if unknown:
            self.error(f"unrecognized arguments: {unknown}")
        raise Accepted

    monkeypatch.setattr(argparse.ArgumentParser, "parse_known_args", parse_only)
    try:
        main(words)
    except Accepted:
        return True
    except SystemExit as end:  # by --help, or refused
        return end.code == 0
    return False


def readings(line: str) -> Iterator[list[str]]:
    """What a person may type for it: up to the last option at least, as prose may follow."""
    words = shlex.split(re.sub(r"[\[\]]", "", line).replace("...", ""))[1:]
    last = max((n for n, word in enumerate(words) if word.startswith("-")), default=0)
    for end in range(len(words), last, -1):
        for value in VALUES:
            yield [word.replace("\0", value) for word in words[:end]]
            yield [re.sub(r"^(?:[A-Z]|\0)[A-Z_]*$|\0", value, word) for word in words[:end]]


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.replace("\0", "{}"))
def test_a_printed_command_is_accepted(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = any(accepted(words, monkeypatch) for words in readings(line))
    assert taken, f"{LINES[line]}: {line!r}: {capsys.readouterr().err.splitlines()[-1:]}"


def test_they_are_found() -> None:
    """As many kinds as there are commands with options; among them those that a message fills in."""
    assert {line.split()[1] for line in LINES} == {*COMMANDS} - {"completion"}
    assert any("\0" in line for line in LINES) and len(LINES) > 60


@pytest.mark.parametrize("line", ["hvdkit doctor --host \0", "hvdkit verify --steps", "hvdkit run --nodez x"])
def test_one_that_is_refused_would_be_found(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not any(accepted(words, monkeypatch) for words in readings(line))
