"""Rules that are named and do not exist: refused by every command that takes ids, never passed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.check import rules as check
from hvdkit.cli import main
from hvdkit.migrate import rules as migrate
from hvdkit.migrate.catalog.rule_files import rule_files

FAULTY = """\
import horovod.torch as hvd

hvd.init()
loss = hvd.allreduce(local_loss) / hvd.size()
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "train.py").write_text(FAULTY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_ids_are_known_without_loading_a_rule() -> None:
    assert [*rule_files("migrate")] == [rule.id for rule in migrate.all_rules()]
    assert [*rule_files("check")] == [rule.id for rule in check.all_rules()]


@pytest.mark.parametrize("option", ["--select", "--ignore"])
@pytest.mark.parametrize(
    ("command", "named", "unknown", "near"),
    [
        ("check", "HVDX", "HVDX", "HVD8"),
        ("check", "HVD804,HVD8O1", "HVD8O1", "HVD801"),
        ("check", "hvd804", "hvd804", "HVD804"),
        ("migrate", "HVDX", "HVDX", "HVD1"),
        ("migrate", "HVD2O1", "HVD2O1", "HVD201"),
        ("migrate", "HVD2011", "HVD2011", "HVD201"),
    ],
)
def test_an_unknown_rule_is_refused_with_the_nearest(
    tree: Path,
    capsys: pytest.CaptureFixture[str],
    option: str,
    command: str,
    named: str,
    unknown: str,
    near: str,
) -> None:
    assert main([command, option, named, "train.py"]) == 2
    said = capsys.readouterr()
    assert f"{option} {unknown}: " in said.err
    assert f"did you mean {near}?" in said.err
    assert said.out == ""


@pytest.mark.parametrize(
    ("command", "named", "other"), [("check", "HVD2", "migrate"), ("migrate", "HVD804", "check")]
)
def test_a_rule_of_the_other_command_is_refused(
    tree: Path, capsys: pytest.CaptureFixture[str], command: str, named: str, other: str
) -> None:
    assert main([command, "--select", named, "train.py"]) == 2
    assert f"that is a rule of hvdkit {other}" in capsys.readouterr().err


def test_beginnings_of_ids_stay_valid(tree: Path) -> None:
    assert main(["check", "--select", "HVD8", "train.py"]) == 1
    assert main(["check", "--select", "HVD80", "train.py"]) == 1
    assert main(["check", "--ignore", "HVD80", "train.py"]) == 0
    assert main(["migrate", "--select", "HVD2,HVD3", "train.py"]) == 0


@pytest.mark.parametrize("command", ["check", "migrate"])
@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('[tool.hvdkit.{}]\nignore = ["HVDX"]', "ignore HVDX: "),
        ("[tool.hvdkit.{}]\nselect = [7]", "select = [7]"),
        ('[tool.hvdkit.{}]\nselect = [""]', "select = ['']"),
        ('[tool.hvdkit.{}]\nselct = ["HVD1"]', "did you mean select?"),
        ("[tool.hvdkit.{}e]", "has no key '"),
        ("[tool]\nhvdkit = 3", "tool.hvdkit = 3"),
        ("tool = 3", "tool = 3"),
        ("[tool.hvdkit]\n{} = true", " = True"),
    ],
)
def test_a_table_that_says_nothing_is_refused(
    tree: Path, capsys: pytest.CaptureFixture[str], command: str, table: str, message: str
) -> None:
    (tree / "pyproject.toml").write_text(table.format(command) + "\n")
    assert main([command, "train.py"]) == 2
    assert message in capsys.readouterr().err


def test_a_page_that_is_not_there_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "HVD2O1"]) == 2
    assert "did you mean HVD201?" in capsys.readouterr().err
