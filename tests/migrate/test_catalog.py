"""`hvdkit rules`, `hvdkit explain`, and the pages made from the rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hvdkit.cli import main
from hvdkit.migrate.catalog import every_rule, pages

DOCS = Path(__file__).parents[2] / "docs" / "rules"


def test_the_committed_pages_are_todays() -> None:
    committed = {path.name: path.read_text(encoding="utf-8") for path in DOCS.iterdir()}
    assert committed == pages(), "run scripts/docs"


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
    assert capsys.readouterr().out == pages()["HVD201.md"]


def test_explain_an_unknown_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "HVD000"]) == 2
    assert "hvdkit rules lists them" in capsys.readouterr().err
