"""docs/commands has a page for each command, as the parsers are today."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hvdkit.cli import COMMANDS, main
from hvdkit.reference.commands import pages, parser_of

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "commands"
SITE = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


def test_the_committed_pages_are_up_to_date() -> None:
    committed = {path.name: path.read_text(encoding="utf-8") for path in DOCS.iterdir()}
    assert committed == pages(), "run scripts/docs"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_holds_all_of_the_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    page = pages()[f"{command}.md"]
    for action in parser_of(command)._actions:
        assert action.help and all(
            f"`{name}" in page or name in ("-h", "--help") for name in action.option_strings
        )
    assert re.search(rf"\n\$ .*hvdkit {command}\b", page) and "## Exit codes" in page
    with pytest.raises(SystemExit):
        main([command, "--help"])
    shown = capsys.readouterr().out
    for code, what in re.findall(r"(?m)^\| (\w+) \| (.*) \|$", page.partition("## Exit codes")[2])[1:]:
        assert re.search(rf"(?m)^  {code} +{re.escape(what)}$", shown)


@pytest.mark.parametrize("command", COMMANDS)
def test_its_guide_is_there_and_the_site_shows_it(command: str) -> None:
    guide = re.search(r"The guide: \[.*\]\((.*)\)", pages()[f"{command}.md"])
    assert guide and (DOCS / guide[1]).exists()
    assert f"commands/{command}.md" in SITE
