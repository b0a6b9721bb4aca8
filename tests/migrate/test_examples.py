"""Every rule's own examples: what it changes, and what it must leave byte-identical and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import FilePlan
from hvdkit.migrate.rules import all_rules
from tests.files import write_files
from tests.rule_examples import changes, examples, keeps


def migrate(
    folder: Path, text: str, files: tuple[tuple[str, str], ...], options: Options
) -> tuple[FilePlan, bool]:
    """The plan for train.py beside other files, and whether anything was reported on it."""
    script = folder / "train.py"
    write_files(folder, (*files, (script.name, text)))
    plan = make_plan([folder], options)
    assert not plan.unreadable
    file = next(file for file in plan.files if file.path == script) if plan.files else None
    if file is None:
        return FilePlan(script, text, text, "utf-8"), False
    return file, bool(file.findings)


@pytest.mark.parametrize(("rule", "change"), changes(all_rules()))
def test_changes(rule: Rule, change: Change, tmp_path: Path) -> None:
    before, after = change.texts()
    options = Options(change.target, change.suggested, (rule.id,))
    file, _ = migrate(tmp_path, before, change.files, options)
    assert not file.problem
    assert file.after == after


@pytest.mark.parametrize(("rule", "keep"), keeps(all_rules()))
def test_keeps(rule: Rule, keep: Keep, tmp_path: Path) -> None:
    options = Options("horovod", keep.suggested, (rule.id,))
    file, reported = migrate(tmp_path, keep.text(), keep.files, options)
    without_markers = [line for line in file.after.splitlines() if "# hvdkit: TODO[" not in line]
    assert without_markers == file.before.splitlines()
    assert reported == keep.reported


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_every_rule_has_both_kinds_of_examples(rule: Rule) -> None:
    kinds = {type(example) for _, _, example in examples([rule])}
    assert Change in kinds or rule.safety.startswith("Nothing is"), "a rule that edits shows what it edits"
    assert Keep in kinds
    assert all(text.strip() for text in (rule.title, rule.what, rule.why, rule.safety))
