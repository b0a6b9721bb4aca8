"""`hvdkit rules`, `hvdkit explain`, and the pages made from the rules."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hvdkit.cli import main
from hvdkit.migrate.catalog import every_rule, pages

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "rules"


def test_the_committed_pages_are_todays() -> None:
    committed = {path.name: path.read_text(encoding="utf-8") for path in DOCS.iterdir()}
    assert committed == pages(ROOT), "run scripts/docs"


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
    for rule in every_rule():
        assert rule.check.__module__.rpartition(".")[2].startswith(rule.id.lower())


def test_explain_prints_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "hvd201"]) == 0
    shown, link, _ = pages(ROOT)["HVD201.md"].partition("\n[More examples](")
    assert link and capsys.readouterr().out == shown


def test_explain_an_unknown_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "HVD000"]) == 2
    assert "hvdkit rules lists them" in capsys.readouterr().err
