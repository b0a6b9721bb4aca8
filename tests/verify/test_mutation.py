"""benchmarks/mutation.py: each rule fits somewhere, what it makes is a program, and results are counted."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def mutation() -> Iterator[SimpleNamespace]:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    names = ("originals", "results", "right", "source", "wrong")
    yield SimpleNamespace(**{name: importlib.import_module(f"mutation.{name}") for name in names})
    sys.path.remove(str(ROOT / "benchmarks"))


def test_every_rule_makes_programs_of_the_pairs(mutation):
    scripts = [(ROOT / pair).read_text(encoding="utf-8") for pair in mutation.originals.PAIRS]
    assert len(scripts) >= 15
    unused = set()
    for rule in (*mutation.wrong.MISTAKES, *mutation.right.REFACTORINGS):
        made = 0
        for text in scripts:
            source = mutation.source.Source(text)
            for edits in rule.sites(source):
                compile(source.edited(edits), rule.name, "exec")
                made += 1
        if not made:
            unused.add(rule.name)
    assert not unused
    assert len(mutation.wrong.MISTAKES) >= 20


@pytest.mark.parametrize(
    ("wrong", "code", "said", "what"),
    [
        (True, 0, "agree: bit for bit", "false yes"),
        (True, 3, "agree, not checked: x", "unknown"),
        (True, 1, "differ: learning rate, step 2 (migrated.py:7)", "refused and named"),
        (True, 1, "  migrated  0.1  (migrated.py:3)\ndiffer: loss, step 2", "refused and named"),
        (True, 1, "differ: loss, step 2 (migrated.py:7)", "refused, not named"),
        (True, 2, "hvdkit verify: the original script ended with exit code 1", "not run"),
        (False, 0, "agree: bit for bit", "agrees"),
        (False, 1, "differ: loss, step 2", "false no"),
        (False, 3, "agree, not checked: x", "right, unknown"),
    ],
)
def test_outcomes(mutation, wrong, code, said, what):
    mutant = mutation.results.Mutant("pairs/x", "rate", wrong, "")
    assert mutation.results.judged(mutant, "rate", code, said, {3}).what == what


def test_results_are_kept_by_seed(mutation, tmp_path, monkeypatch):
    monkeypatch.setattr(mutation.results, "RESULTS", tmp_path / "mutation.json")
    outcome = mutation.results.Outcome("pairs/x", "rate", True, "false yes", "agree: bit for bit")
    mutation.results.add(7, [outcome])
    mutation.results.add(8, [])
    assert list(json.loads((tmp_path / "mutation.json").read_text())) == ["7", "8"]
    assert mutation.results.kept()["7"] == [outcome]
    page = mutation.results.section()
    assert "1 wrong, 1 operators, 1 originals" in page and "false yes: rate of pairs/x: agree" in page
