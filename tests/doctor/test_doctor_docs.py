"""docs/doctor.md and docs/run.md say what the commands have."""

from __future__ import annotations

import re
from pathlib import Path

from hvdkit.doctor import command as doctor
from hvdkit.examination.checks import CHECKS
from hvdkit.hosts.environment import FAMILIES, NEEDED
from hvdkit.launch import command as run
from hvdkit.launch.lifeline import SILENCE_S

DOCS = Path(__file__).parents[2] / "docs"


def options(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))


def test_the_table_of_checks_is_the_list() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", (DOCS / "doctor.md").read_text(), re.MULTILINE)
    assert rows == [(check.id, check.title) for check in CHECKS.values()]


def test_every_option_is_in_the_docs() -> None:
    pages = (DOCS / "doctor.md").read_text() + (DOCS / "run.md").read_text()
    known = options(doctor.parser().format_help()) | options(run.parser().format_help())
    others = {"--help", "--num-proc", "--np", "--hosts", "--ssh-port", "--ssh-identity-file"}
    explained = options(pages) | others
    assert known - explained == set()


def test_the_variables_and_the_bound_are_those_of_the_code() -> None:
    page = (DOCS / "run.md").read_text()
    assert [name for name in sorted(NEEDED) if f"`{name}`" not in page] == []
    assert [family for family in FAMILIES if f"`{family}*`" not in page] == []
    assert f"after {SILENCE_S:.0f} s of silence" in page
