"""Every rule's own examples: what it mends, what it reports, and what it must not say anything about."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.check.command import make_plan
from hvdkit.check.rules import all_rules
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import FilePlan
from tests.files import write_files
from tests.rule_examples import changes, examples, keeps

EXAMPLES = Path(__file__).parents[2] / "examples"


def checked(folder: Path, text: str, files: tuple[tuple[str, str], ...], options: Options) -> FilePlan:
    """The plan for train.py beside other files."""
    script = folder / "train.py"
    write_files(folder, (*files, (script.name, text)))
    plan = make_plan([folder], options)
    assert not plan.unreadable
    return next(file for file in plan.files if file.path == script)


@pytest.mark.parametrize(("rule", "change"), changes(all_rules()))
def test_changes(rule: Rule, change: Change, tmp_path: Path) -> None:
    before, after = change.texts()
    file = checked(tmp_path, before, change.files, Options(change.target, change.suggested, (rule.id,)))
    assert not file.problem
    assert file.after == after


@pytest.mark.parametrize(("rule", "keep"), keeps(all_rules()))
def test_keeps(rule: Rule, keep: Keep, tmp_path: Path) -> None:
    file = checked(tmp_path, keep.text(), keep.files, Options("horovod", keep.suggested, (rule.id,)))
    without_markers = [line for line in file.after.splitlines() if "# hvdkit: TODO[" not in line]
    assert without_markers == file.before.splitlines()
    assert bool(file.findings) == keep.reported


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_every_rule_says_what_it_must_not_report(rule: Rule) -> None:
    every = [example for _, _, example in examples([rule])]
    changed = any(isinstance(example, Change) for example in every)
    reported = [example.reported for example in every if isinstance(example, Keep)]
    assert changed or rule.safety.startswith("Nothing is"), "a rule that edits shows what it edits"
    assert not all(reported), "a program on which the rule is silent"
    assert changed or any(reported), "a program on which it is not"
    assert all(text.strip() for text in (rule.title, rule.what, rule.why, rule.safety))


@pytest.mark.parametrize(("rule", "change"), changes(all_rules()))
def test_what_is_mended_is_found_no_more(rule: Rule, change: Change, tmp_path: Path) -> None:
    _, after = change.texts()
    file = checked(tmp_path, after, change.files, Options(change.target, True, (rule.id,)))
    assert [finding for finding in file.findings if finding.edits] == []


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("*/*_h*d*.py")), ids=lambda path: path.name)
def test_what_migrate_writes_has_nothing_to_find(script: Path) -> None:
    assert not [finding for file in make_plan([script], Options()).files for finding in file.findings]
