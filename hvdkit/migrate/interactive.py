"""`hvdkit migrate --interactive`: each change is accepted or left, by the keys of `git add -p`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from hvdkit.console import show_line
from hvdkit.errors import UsageError
from hvdkit.files import read_file
from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.engine.questions import Question, make_questions
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import Plan
from hvdkit.migrate.report.places import talk
from hvdkit.migrate.report.text import show_file_diff, show_finding

HELP = """\
y - rewrite this
n - leave this as it is
a - rewrite this and everything later in the file
d - leave this and everything later in the file
q - leave this and everything later in all files
? - print this help
"""
KEYS = tuple(line[0] for line in HELP.splitlines())


def check_terminal(args: argparse.Namespace) -> None:
    """Raises: UsageError where nobody can answer, or read what is asked."""
    if not sys.stdin.isatty():
        raise UsageError(
            "--interactive asks questions, and standard input is not a terminal",
            "",
            "run it in a terminal, or choose the rules by --select and --ignore",
        )
    if talk(args) is not sys.stdout:
        raise UsageError(
            "--interactive asks on standard output, and a report is written there",
            "",
            "give the report a file: --json=hvdkit.json",
        )


def chosen_plan(paths: Sequence[Path], options: Options) -> Plan:
    """The plan without what the answers leave."""
    reader = cache(read_file)  # the answers are about these texts, whatever is saved meanwhile
    left = [each for asked in _left(make_questions(paths, options, reader)) for each in asked.left]
    return make_plan(paths, replace(options, left=frozenset(left)), reader)


def _left(questions: Sequence[Question]) -> list[Question]:
    """Those of the questions that are answered by no; what stays with them is not asked."""
    left: list[Question] = []
    stays: set[Path] = set()
    rest: dict[Path, str] = {}  # what is answered for everything later in a file
    for number, asked in enumerate(questions, start=1):
        if asked.path in stays:
            continue
        answer = rest.get(asked.path) or _answer(asked, f"({number}/{len(questions)})")
        if answer == "q":
            return [*left, *questions[number - 1 :]]
        if answer in ("a", "d"):
            rest[asked.path] = answer
        if answer in ("n", "d"):
            left.append(asked)
            stays |= asked.stays
    return left


def _answer(asked: Question, number: str) -> str:
    """The key that is typed. The end of the input is q, as git reads it."""
    for finding in asked.findings:
        show_finding(finding, "cyan")
    for file in asked.files:
        show_file_diff(file)
    if asked.stays:
        show_line("all of this or none: without it, the program stays as it is")
    while True:
        try:
            typed = input(f"{number} Rewrite this [{','.join(KEYS)}]? ").strip()[:1].lower()
        except EOFError:
            print()
            return "q"
        if typed in KEYS and typed != "?":
            return typed
        print(HELP, end="")
