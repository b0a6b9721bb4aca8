"""Rules know facts and decisions, and no other rule: none imports one, runs one or reads what one said."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import hvdkit
from hvdkit.migrate.catalog.rule_files import COMMANDS, rule_files

ROOT = Path(hvdkit.__file__).parent
RULES = [*rule_files(*COMMANDS).values()]
OTHERS = (
    "hvdkit.migrate.rules",
    "hvdkit.migrate.back",
    "hvdkit.check.rules",
    "hvdkit.migrate.engine",
    "hvdkit.migrate.report",
)
DOTTED = tuple(f"{name}." for name in OTHERS)
WORDS = {f"{name}.{word}" for name in ("finding", "edit") for word in ("message", "advice", "text")}
RUNS = {"all_rules", "run_rules", "found_by", "findings", "check"}


def wrong(tree: ast.Module) -> Iterator[str]:
    """What a rule's module has to do with other rules."""
    for node in ast.walk(tree):
        names = [alias.name for alias in getattr(node, "names", ()) if isinstance(alias, ast.alias)]
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else names
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            inside = [f"{module}.{name}" for module in modules for name in names]
            yield from (f"imports {each}" for each in (*modules, *inside) if f"{each}.".startswith(DOTTED))
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in RUNS:
                yield f"calls {name}"
        if isinstance(node, ast.Attribute) and ast.unparse(node) in WORDS:
            yield f"reads {ast.unparse(node)}"


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.stem)
def test_a_rule_knows_no_other(path: Path) -> None:
    assert list(wrong(ast.parse(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize(
    "text",
    [
        "from hvdkit.migrate.rules.hvd401_optimizer import RULE",
        "from hvdkit.migrate.rules import all_rules",
        "from hvdkit.migrate import rules",
        "found = findings(rule, facts)",
        "found = RULE.check(facts)",
        "left = finding.advice.startswith('not')",
        "asks = 'hvd.' in edit.text",
    ],
)
def test_what_a_rule_does_with_another_is_seen(text: str) -> None:
    assert list(wrong(ast.parse(text)))
