"""What the rules find in their own result is carried out in the same run, as far as it comes to an end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Rule
from hvdkit.migrate.engine.passes import run_pass
from hvdkit.migrate.facts import Facts, Options
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rules import all_rules


def renaming(rule: Rule, old: str, new: str) -> Rule:
    """A rule in place of one, that renames a function that is called: one follows from what another wrote."""

    def check(facts: Facts) -> Iterator[Finding]:
        for names in facts.files:
            for call in names.calls.get(old, ()):
                edit = (edits.replace, names.source, call.func, new)
                yield safe(facts, rule.id, names, call, "renamed", *edit)

    return replace(rule, check=check)


@pytest.mark.parametrize(
    ("rules", "after", "problem"),
    [
        ([("a", "b"), ("b", "c")], "c()", ""),
        (
            [("a", "b"), ("b", "a")],
            "a()",
            "a second run would change it again (HVD102, line 2); please report",
        ),
    ],
    ids=["comes to an end", "goes round"],
)
def test_the_result_is_rewritten_until_nothing_changes(
    tmp_path: Path, rules: list[tuple[str, str]], after: str, problem: str
) -> None:
    (tmp_path / "train.py").write_text("import torch\na()\n")
    done = run_pass(
        [tmp_path], Options(), lambda _: [renaming(one, *names) for one, names in zip(all_rules(), rules)]
    )
    (file,) = done.files
    assert file.after == f"import torch\n{after}\n"
    assert file.problem == problem
