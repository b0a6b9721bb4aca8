"""`hvdkit check` as a command: exit codes, fixes and their undo, what it prints for machines, bad input."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from hvdkit.cli import main

FIXABLE = """\
import horovod.torch as hvd

hvd.init()
loss = hvd.allreduce(local_loss) / hvd.size()
"""
MANUAL = """\
import horovod.torch as hvd

hvd.init()
if hvd.rank() == 0:
    loss = hvd.allreduce(local_loss)
"""
CLEAN = """\
import horovod.torch as hvd

hvd.init()
loss = hvd.allreduce(local_loss)
"""


def write(folder: Path, text: str, name: str = "train.py") -> Path:
    script = folder / name
    script.write_text(text, encoding="utf-8")
    return script


def test_exit_codes(tmp_path: Path) -> None:
    script = write(tmp_path, CLEAN)
    assert main(["check", str(script)]) == 0
    script.write_text(FIXABLE)
    assert main(["check", str(script)]) == 1
    assert script.read_text() == FIXABLE
    assert main(["check", str(tmp_path / "missing.py")]) == 2
    assert main(["check"]) == 2


def test_a_finding_names_place_and_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = write(tmp_path, MANUAL)
    assert main(["check", str(script)]) == 1
    out = capsys.readouterr().out
    assert "train.py:5: HVD805" in out
    assert "on every rank" in out
    assert "1 finding in 1 of 1 file" in out


def test_fix_and_undo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = write(tmp_path, FIXABLE)
    assert main(["check", str(script), "--fix"]) == 2, "no version control"
    assert script.read_text() == FIXABLE
    assert main(["check", str(script), "--fix", "--allow-no-vcs"]) == 0
    assert script.read_text() == FIXABLE.replace(" / hvd.size()", "")
    assert main(["check", str(script)]) == 0
    assert main(["check", "--undo", str(script)]) == 0
    assert script.read_text() == FIXABLE
    assert "restored" in capsys.readouterr().out


def test_what_is_left_gets_one_marker(tmp_path: Path) -> None:
    script = write(tmp_path, MANUAL)
    assert main(["check", str(script), "--fix", "--allow-no-vcs"]) == 1
    once = script.read_text()
    assert once.count("# hvdkit: TODO[HVD805]") == 1
    assert main(["check", str(script), "--fix", "--allow-no-vcs"]) == 1
    assert script.read_text() == once


def test_diff_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = write(tmp_path, FIXABLE)
    assert main(["check", str(script), "--diff"]) == 1
    assert "-loss = hvd.allreduce(local_loss) / hvd.size()" in capsys.readouterr().out
    assert script.read_text() == FIXABLE


def test_json_and_sarif(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = write(tmp_path, FIXABLE)
    assert main(["check", str(script), "--json", "-"]) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    assert [(row["rule"], row["line"], row["applicability"]) for row in found] == [("HVD804", 4, "safe")]
    report = tmp_path / "report.sarif"
    assert main(["check", str(script), f"--sarif={report}"]) == 1
    run = json.loads(report.read_text())["runs"][0]
    assert [(result["ruleId"], result["level"]) for result in run["results"]] == [("HVD804", "warning")]
    assert all(rule["id"].startswith("HVD8") for rule in run["tool"]["driver"]["rules"])


@pytest.mark.parametrize(
    ("text", "said"), [(MANUAL, "1 finding in 1 of 1 file"), (CLEAN, "nothing found in 1 file")]
)
def test_the_page_is_titled_by_the_command_and_says_how_much_was_found(
    tmp_path: Path, text: str, said: str
) -> None:
    script, page = write(tmp_path, text), tmp_path / "page.html"
    main(["check", str(script), f"--html={page}"])
    assert "<title>hvdkit check</title>" in page.read_text() and said in page.read_text()


def test_select_ignore_and_pyproject(tmp_path: Path) -> None:
    script = write(tmp_path, FIXABLE + MANUAL)
    assert main(["check", str(script), "--select", "HVD81"]) == 0
    assert main(["check", str(script), "--ignore", "HVD804,HVD805"]) == 0
    write(tmp_path, '[tool.hvdkit.check]\nignore = ["HVD80"]\n', "pyproject.toml")
    assert main(["check", str(script)]) == 0
    assert main(["check", str(script), "--ignore", "HVD804"]) == 1
    write(tmp_path, '[tool.hvdkit.check]\ntarget = "hvdkit"\n', "pyproject.toml")
    assert main(["check", str(script)]) == 2, "check has no target"


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(MANUAL.encode())))
    assert main(["check", "-"]) == 1
    assert "HVD805" in capsys.readouterr().out
    assert main(["check", "-", "--fix"]) == 2


def test_notebook_cells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [FIXABLE.split("\n\n")[0], FIXABLE.split("\n\n")[1]]
    notebook = {
        "cells": [
            {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": [text]}
            for text in cells
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    write(tmp_path, json.dumps(notebook), "train.ipynb")
    assert main(["check", str(tmp_path)]) == 1
    assert "train.ipynb:cell 2:2: HVD804" in capsys.readouterr().out


def test_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "import horovod.torch\ndef broken(:\n")
    assert main(["check", str(tmp_path)]) == 1
    assert "left alone" in capsys.readouterr().out
    empty = tmp_path / "empty"
    empty.mkdir()
    assert main(["check", str(empty)]) == 0


WRONG = "    loss = hvd.allreduce(local_loss)"


@pytest.mark.parametrize(
    "comment", ["# hvdkit: ignore[HVD805]", "# hvdkit: ignore", "# noqa: HVD805", "# noqa: E501, HVD805"]
)
def test_a_comment_leaves_a_finding_out(tmp_path: Path, comment: str) -> None:
    script = write(tmp_path, MANUAL.replace(WRONG, f"{WRONG}  {comment}"))
    assert main(["check", str(script)]) == 0


@pytest.mark.parametrize("comment", ["# hvdkit: ignore[HVD810]", "# noqa: HVD810", "# noqa"])
def test_a_comment_about_another_rule_leaves_nothing_out(tmp_path: Path, comment: str) -> None:
    script = write(tmp_path, MANUAL.replace(WRONG, f"{WRONG}  {comment}"))
    assert main(["check", str(script)]) == 1


def test_a_comment_stands_at_the_end_of_a_statement_of_several_lines(tmp_path: Path) -> None:
    several = "    loss = hvd.allreduce(\n        local_loss\n    )  # hvdkit: ignore[HVD805]"
    assert main(["check", str(write(tmp_path, MANUAL.replace(WRONG, several)))]) == 0


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ('exclude = ["vendor"]', 0),
        ('exclude = ["vendor/*.py"]', 0),
        ('exclude = ["*_old.py"]', 1),
        ('per-file-ignores = {"vendor/*" = ["HVD805"]}', 0),
        ('per-file-ignores = {"train.py" = ["HVD8"]}', 0),
        ('per-file-ignores = {"vendor" = ["HVD81"]}', 1),
        ('exclude = "vendor"', 2),
        ("per-file-ignores = {vendor = 805}", 2),
    ],
)
def test_a_project_leaves_files_out(tmp_path: Path, settings: str, code: int) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.hvdkit.check]\n{settings}\n")
    (tmp_path / "vendor").mkdir()
    script = write(tmp_path / "vendor", MANUAL)
    assert main(["check", str(tmp_path)]) == code
    assert main(["check", str(script)]) == code  # as pre-commit passes it


def test_an_excluded_file_need_not_be_readable(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.hvdkit.check]\nexclude = ["templates"]\n')
    (tmp_path / "templates").mkdir()
    write(tmp_path / "templates", "import torch\nprint {{ name }}\n")
    write(tmp_path, CLEAN)
    assert main(["check", str(tmp_path)]) == 0


def test_the_other_rules_go_on_past_one_that_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from hvdkit.check.rules import hvd804_averaged_twice

    def fails(*_: object) -> bool:
        raise KeyError("a mistake of hvdkit's")

    monkeypatch.setattr(hvd804_averaged_twice, "averages", fails)
    script = write(tmp_path, FIXABLE + MANUAL)
    assert main(["check", str(script)]) == 2
    printed = capsys.readouterr()
    assert "HVD805" in printed.out
    assert "internal error in rule HVD804: KeyError" in printed.err
    assert "the other rules ran" in printed.err
