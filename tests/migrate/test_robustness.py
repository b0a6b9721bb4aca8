"""Code that nobody wrote for hvdkit: no crash, no change without a reason, a visible internal error.

A few packages of the standard library are taken;
HVDKIT_WHOLE_LIBRARY=1 takes all of it and of site-packages, which takes long.
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Rule
from hvdkit.migrate.engine import RuleFailed, make_plan, plans, run_pass
from hvdkit.migrate.facts import Facts, Options
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rules import all_rules

STDLIB, PACKAGES = (Path(sysconfig.get_path(key)) for key in ("stdlib", "purelib"))
SLICE = [STDLIB / name for name in ("asyncio", "email", "json", "concurrent")]


def _libraries() -> list[Path]:
    if "HVDKIT_WHOLE_LIBRARY" not in os.environ:
        return [path for path in SLICE if path.exists()]
    found = [path for folder in (STDLIB, PACKAGES) for path in sorted(folder.iterdir())]
    apart = ("site-packages", "dist-packages", "__pycache__")
    return [path for path in found if path.suffix in ("", ".py") and path.name not in apart]


@pytest.mark.parametrize("path", _libraries(), ids=lambda path: path.name)
def test_libraries_do_not_end_the_run(path: Path) -> None:
    plan = make_plan([path], Options())
    assert not [file.path for file in plan.files if file.problem]
    distributed = ("torch", "tensorflow", "keras", "horovod", "apex")
    for file in plan.changed:
        assert any(word in file.before for word in distributed), file.path


def test_every_kind_of_file_without_distributed_code_stays_as_it_is(tmp_path: Path) -> None:
    """Forced through the whole engine by naming torch in a comment."""
    files = [path for path in sorted((STDLIB / "asyncio").glob("*.py")) if path.stat().st_size]
    for path in files:
        (tmp_path / path.name).write_bytes(path.read_bytes() + b"\n# torch\n")
    plan = make_plan([tmp_path], Options())
    assert len(plan.files) == len(files)
    assert not plan.changed
    assert not plan.findings


def test_an_error_inside_a_rule_is_named_and_nothing_is_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(facts: Facts) -> None:
        raise KeyError("x")

    rule = next(rule for rule in all_rules() if rule.id == "HVD201")

    monkeypatch.setattr(plans, "rules_for", lambda _: [replace(rule, check=broken)])  # type: ignore[arg-type]
    (tmp_path / "train.py").write_text("import torch\n")
    with pytest.raises(RuleFailed, match=r"HVD201: KeyError: 'x' \(test_robustness\.py, line \d+\)"):
        make_plan([tmp_path], Options())


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [("x = (", "would not parse"), ("f(a=1, a=2)", "would not compile (keyword argument repeated: a")],
)
def test_a_file_that_cannot_be_rewritten_leaves_its_program_whole(
    wrong: str, problem: str, tmp_path: Path
) -> None:
    (tmp_path / "helper.py").write_text("import torch\n\ndef step():\n    pass\n")
    (tmp_path / "train.py").write_text("import torch\nimport helper\n\nhelper.step()\n")
    (tmp_path / "other.py").write_text("import torch\n")

    def check(facts: Facts) -> Iterator[Finding]:
        for names in facts.files:
            broken = names.source.path.name == "helper.py"
            first = names.source.tree.body[0]
            line = wrong if broken else "x = 1"
            if "x = 1" not in names.source.text:
                yield safe(facts, "HVD000", names, first, "a line", edits.before, names.source, first, [line])

    rule = Rule(id="HVD000", title="", what="", why="", safety="", check=check, changes=(), keeps=())
    done = run_pass([tmp_path], Options(), lambda _: [rule])
    files = {file.path.name: file for file in done.files}
    assert problem in files["helper.py"].problem
    assert not files["helper.py"].changed and not files["train.py"].changed
    assert files["other.py"].changed
    assert {refusal.reason for refusal in done.refused.values()} == {"helper.py cannot be rewritten"}
