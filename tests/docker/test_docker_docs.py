"""docs/docker.md names the options and files that there are."""

from __future__ import annotations

import re
from pathlib import Path

from hvdkit.docker.command import parser
from tests.docker.golden import COMMANDS, golden

PAGE = (Path(__file__).parents[2] / "docs" / "docker.md").read_text(encoding="utf-8")


def first_column(header: str) -> set[str]:
    table = PAGE.partition(f"| {header} |")[2].partition("\n\n")[0]
    return {re.split(r"[ \[]", found)[0] for found in re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)}


def test_every_option_is_in_the_table() -> None:
    actions = [action for action in parser()._actions if action.option_strings and action.dest != "help"]
    assert first_column("option") == {action.option_strings[0] for action in actions}


def test_every_file_is_in_the_table() -> None:
    written = {Path(path).name for project in COMMANDS for path in golden(project)}
    assert first_column("file") == written - {"Dockerfile.dockerignore"}
