"""`hvdkit rules`, `hvdkit explain`, and the pages made from the rules."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from hvdkit.check.rules import all_rules as all_check_rules
from hvdkit.cli import main
from hvdkit.migrate.back import all_rules as back_rules
from hvdkit.migrate.catalog.pages import pages
from hvdkit.migrate.catalog.rule import Page, Rule
from hvdkit.migrate.catalog.rule_files import COMMANDS, read, rule_files, title_in
from hvdkit.migrate.rules import all_rules

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "rules"


def every_rule() -> tuple[Rule, ...]:
    """The rules of migrate, both ways, and of check, by number."""
    return tuple(sorted((*back_rules(), *all_rules(), *all_check_rules()), key=lambda rule: rule.id))


def test_what_is_read_of_a_rule_is_what_the_rule_says() -> None:
    files = rule_files(*COMMANDS)
    assert [*files] == [rule.id for rule in every_rule()]
    for rule in every_rule():
        texts = {field.name: getattr(rule, field.name) for field in fields(Page)}
        assert read(files[rule.id]) == Page(**texts)
        assert title_in(files[rule.id]) == rule.title


@pytest.mark.parametrize("command", [["rules"], ["explain", "HVD404"]])
def test_listing_and_explaining_load_no_rule(command: list[str]) -> None:
    code = f"import sys, hvdkit.cli as c; c.main({command}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1].split()
    assert "hvdkit.migrate.catalog.pages" in loaded
    assert not [name for name in loaded if ".rules" in name or ".facts" in name or name.startswith("rich")]


@pytest.mark.parametrize(
    ("program", "series"),
    [("import json", ""), ("import torch", "1234569"), ("import keras", "12345679")],
)
def test_migrating_loads_no_rule_that_cannot_apply(program: str, series: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(program)
    code = "import sys, hvdkit.cli as c; c.main(['migrate', 'train.py']); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    loaded = re.findall(r"hvdkit\.migrate\.rules\.hvd(\d)", done.stdout.splitlines()[-1])
    assert {*loaded} == {*series}


def test_the_committed_pages_are_up_to_date() -> None:
    committed = {path.name: path.read_text(encoding="utf-8") for path in DOCS.iterdir()}
    assert committed == pages(ROOT), "run scripts/docs"


def test_a_page_fits_on_a_few_screens() -> None:
    lengths = {path.name: len(path.read_text().splitlines()) for path in DOCS.glob("HVD*.md")}
    assert {name: lines for name, lines in lengths.items() if lines > 150} == {}


def test_the_index_has_each_rule_in_one_topic() -> None:
    listed = re.findall(r"(?m)^- \[(HVD\d+)\]", (DOCS / "README.md").read_text())
    assert sorted(listed) == [rule.id for rule in every_rule()]


def test_no_page_has_an_unfilled_template() -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        prose = re.sub(r"(?s)```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"))
        if page.name == "explain.md":  # advice there is code without marks; its own test fills each name
            continue
        assert re.findall(r"\{[a-z_]*\}|<object|lorem", prose) == [], page.name


def test_every_link_leads_to_examples() -> None:
    for page in DOCS.iterdir():
        for target in re.findall(r"\]\((\.\./[^)]+)\)", page.read_text(encoding="utf-8")):
            assert [*(DOCS / target).glob("**/*.py")], f"{page.name} leads to {target}"


def test_a_rule_holds_the_two_examples_of_its_page() -> None:
    for rule in every_rule():
        assert 1 <= len(rule.changes) + len(rule.keeps) <= 2, f"{rule.id}: the others belong beside the tests"


def test_rules_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [rule.id for rule in every_rule()]


def test_rules_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[0].keys() == {"id", "title", "what", "why", "safety"}


def test_ids_are_unique_and_match_their_files() -> None:
    ids = [rule.id for rule in every_rule()]
    assert len(ids) == len(set(ids))
    assert ids == list(rule_files(*COMMANDS))


def test_explain_prints_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "hvd201"]) == 0
    shown, link, _ = pages(ROOT)["HVD201.md"].partition("\n[More examples](")
    assert link and capsys.readouterr().out == shown


def test_explain_an_unknown_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "HVD000"]) == 2
    assert "hvdkit rules lists them" in capsys.readouterr().err
