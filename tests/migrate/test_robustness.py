"""Code that nobody wrote for hvdkit: no crash, no change without a reason, a visible internal error.

A few packages of the standard library are taken;
HVDKIT_WHOLE_LIBRARY=1 takes all of it and of site-packages, which takes long.
"""

from __future__ import annotations

import os
import sysconfig
from dataclasses import replace
from pathlib import Path

import pytest

from hvdkit.migrate import engine
from hvdkit.migrate.engine import RuleFailed, make_plan
from hvdkit.migrate.facts import Facts, Options
from hvdkit.migrate.rules import all_rules

STDLIB, PACKAGES = (Path(sysconfig.get_path(key)) for key in ("stdlib", "purelib"))
SLICE = [STDLIB / name for name in ("asyncio", "email", "json", "concurrent")]


def _libraries() -> list[Path]:
    if "HVDKIT_WHOLE_LIBRARY" not in os.environ:
        return [path for path in SLICE if path.exists()]
    packages = [path for path in sorted(PACKAGES.iterdir()) if path.is_dir() and path.suffix != ".dist-info"]
    return [STDLIB, *packages]


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

    monkeypatch.setattr(engine, "all_rules", lambda: [replace(rule, check=broken)])  # type: ignore[arg-type]
    (tmp_path / "train.py").write_text("import torch\n")
    with pytest.raises(RuleFailed, match=r"HVD201: KeyError: 'x' \(test_robustness\.py, line \d+\)"):
        make_plan([tmp_path], Options())
