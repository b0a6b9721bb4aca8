"""`hvdkit migrate` as a person types it: what it prints, writes, refuses and takes back; exit codes."""

from __future__ import annotations

import io
import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from sarif_pydantic import Sarif

from hvdkit.cli import main

DDP = """\
import torch.distributed as dist

dist.init_process_group("gloo")
print(dist.get_rank())
"""
HVD = """\
import horovod.torch as hvd

hvd.init()
print(hvd.rank())
"""
LEFT = DDP + "print(dist.get_rank(group))\n"
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clean git repository with one DDP script, and the current folder in it."""
    (tmp_path / "train.py").write_text(DDP)
    identity = ["-c", "user.name=t", "-c", "user.email=t@t"]
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "before"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_write_nothing_is_written(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "train.py"]) == 0
    out = capsys.readouterr().out
    assert "+hvd.init()" in out
    assert "nothing left to you" in out
    assert (tree / "train.py").read_text() == DDP
    assert sorted(p.name for p in tree.iterdir()) == [".git", "train.py"]


def test_how_to_start_what_was_rewritten(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["migrate", "."])
    assert "start `horovodrun -np N python train.py`: N ranks, one for each GPU\n" in capsys.readouterr().out
    (tree / "run.sh").write_text("torchrun --nproc_per_node=2 train.py\n")
    main(["migrate", "."])
    assert "becomes `horovodrun -np 2 python train.py`" in (out := capsys.readouterr().out)
    assert "-np N" not in out
    (tree / "run.sh").unlink()
    for number in range(5):
        (tree / f"train{number}.py").write_text(DDP)
    main(["migrate", "."])
    assert "; so train0.py, train1.py and 3 more\n" in capsys.readouterr().out


def test_the_two_next_commands_are_above_the_verdict(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As typed: with the options of this call, and the script that --verify runs where a folder was given."""
    assert main(["migrate", ".", "--suggested", "--no-diff"]) == 0
    *_, compare, write, summary, verdict = capsys.readouterr().out.splitlines()
    assert compare.startswith("next `hvdkit migrate train.py . --suggested --verify`: run both")
    assert write.startswith("next `hvdkit migrate . --suggested --write`: write it")
    assert summary.startswith("2 of 2 sites") and verdict == "train.py: ready"
    assert main(["migrate", ".", "--write"]) == 0
    assert "\nnext " not in capsys.readouterr().out


def test_how_to_start_a_notebook(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As it is: each rank makes the program of it."""
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": DDP}]
    (tree / "train.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    main(["migrate", "train.ipynb"])
    out = capsys.readouterr().out
    assert "start `hvdkit run -np N train.ipynb`: N ranks, one for each GPU\n" in out


def test_write_and_undo(tree: Path) -> None:
    script = tree / "train.py"
    script.chmod(0o755)
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qam", "x"], check=True)
    assert main(["migrate", ".", "--write"]) == 0
    assert script.read_text() == HVD
    assert stat.S_IMODE(script.stat().st_mode) == 0o755
    assert main(["migrate", ".", "--check", "--allow-dirty"]) == 0
    status = subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True, check=True)
    assert status.stdout == " M train.py\n", "the undo record is no part of the project"
    assert main(["migrate", "--undo"]) == 0
    assert script.read_text() == DDP


def test_undo_refuses_what_was_edited_since(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", ".", "--write"]) == 0
    (tree / "train.py").write_text(HVD + "# mine\n")
    assert main(["migrate", "--undo"]) == 2
    assert "was changed after hvdkit wrote it" in capsys.readouterr().err
    assert (tree / "train.py").read_text() == HVD + "# mine\n"


def test_undo_without_a_write(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "--undo"]) == 2
    assert "nothing to undo" in capsys.readouterr().err


def test_a_dirty_tree_is_refused(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "other.txt").write_text("mine")
    assert main(["migrate", ".", "--write"]) == 2
    assert "1 uncommitted change" in capsys.readouterr().err
    assert (tree / "train.py").read_text() == DDP
    assert main(["migrate", ".", "--write", "--allow-dirty"]) == 0
    assert (tree / "train.py").read_text() == HVD


def test_outside_version_control(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "train.py"
    script.write_text(DDP)
    assert main(["migrate", str(script), "--write"]) == 2
    assert "--allow-no-vcs" in capsys.readouterr().err
    assert main(["migrate", str(script), "--write", "--allow-no-vcs"]) == 0
    assert script.read_text() == HVD
    assert main(["migrate", str(script), "--undo"]) == 0
    assert script.read_text() == DDP


def test_check_fails_while_something_would_change(tree: Path) -> None:
    assert main(["migrate", ".", "--check"]) == 1
    assert (tree / "train.py").read_text() == DDP


def test_what_is_left_is_marked_told_and_exits_1(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "train.py").write_text(LEFT)
    assert main(["migrate", ".", "--write", "--allow-dirty"]) == 1
    assert "train.py:5: HVD103" in capsys.readouterr().out
    text = (tree / "train.py").read_text()
    assert text.count("# hvdkit: TODO[HVD103]") == 1
    assert main(["migrate", ".", "--write", "--allow-dirty"]) == 1
    assert (tree / "train.py").read_text() == text, "a second run adds no second marker"


def test_what_refuses_a_program_in_many_lines_is_told_once(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wraps = "\n".join(f"shard{n}(model.layers[{n}])" for n in range(20))
    names = ", ".join(f"fully_shard as shard{n}" for n in range(20))
    (tree / "train.py").write_text(f"{DDP}from torch.distributed.fsdp import {names}\n{wraps}\n")
    assert main(["migrate", "train.py", "--no-diff"]) == 1
    out = capsys.readouterr().out
    assert out.count("HVD901 torch") == 1
    assert re.search(r"the same at line (\d+, ){11}\d+ and 7 more", out)


@pytest.mark.parametrize(
    ("wrap", "said"),
    [
        ("torch.nn.parallel.DistributedDataParallel(net, find_unused_parameters=True)", True),
        ("torch.nn.parallel.DistributedDataParallel(net, find_unused_parameters=False)", False),
        ("apex.parallel.DistributedDataParallel(net, delay_allreduce=True)", True),
    ],
)
def test_what_to_know_about_an_edit_is_told_and_leaves_nothing(
    tree: Path, capsys: pytest.CaptureFixture[str], wrap: str, said: bool
) -> None:
    (tree / "train.py").write_text(f"{DDP}import apex\nimport torch\nmodel = {wrap}\n")
    assert main(["migrate", "train.py", "--no-diff"]) == 0
    out = capsys.readouterr().out
    assert ("train.py:7: HVD201" in out and "weight decay" in out) is said
    # What test_standing_still.py shows to help; freezing such a parameter after the wrap does not.
    assert ("optimizer.synchronize() before the step, set .grad = None" in " ".join(out.split())) is said
    assert "requires_grad_(False)" not in out


def test_output_leaves_the_original(tree: Path) -> None:
    assert main(["migrate", "train.py", "--output", "new/place"]) == 0
    assert (tree / "new" / "place" / "train.py").read_text() == HVD
    assert (tree / "train.py").read_text() == DDP


def test_a_link_stays_a_link(tree: Path) -> None:
    (tree / "link.py").symlink_to("train.py")
    assert main(["migrate", "link.py", "--write", "--allow-dirty"]) == 0
    assert (tree / "link.py").is_symlink()
    assert (tree / "train.py").read_text() == HVD


def test_json(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", ".", "--json", "-"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [file["changed"] for file in data["files"]] == [True]
    assert {finding["rule"] for finding in data["findings"]} == {"HVD101", "HVD103"}
    assert data["programs"][0]["kind"] == "ddp"


def test_sarif(tree: Path) -> None:
    (tree / "broken.py").write_text("import torch\ndef (\n")
    assert main(["migrate", ".", "--sarif=report.sarif"]) == 1
    report = Sarif.model_validate_json((tree / "report.sarif").read_text())
    run = report.runs[0]
    assert {result.rule_id for result in run.results} == {"HVD101", "HVD103"}
    assert {rule.id for rule in run.tool.driver.rules} >= {"HVD101", "HVD103"}


@pytest.mark.parametrize("command", ["migrate", "check"])
def test_sarif_on_standard_output(tree: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, ".", "--sarif", "-", "--json=plan.json"]) == 0
    assert Sarif.model_validate_json(capsys.readouterr().out).runs[0].tool.driver.name == "hvdkit"
    assert json.loads((tree / "plan.json").read_text())["schema"] == 1
    assert not (tree / "-").exists()


def test_a_report_has_standard_output_to_itself(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", ".", "--write", "--json", "-"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["files"][0]["changed"]
    assert said.err == "wrote 1 file; hvdkit migrate --undo . restores them\n"


@pytest.mark.parametrize("command", ["migrate", "check"])
@pytest.mark.parametrize("place", ["-", "report"])
def test_two_reports_in_one_place_are_refused(
    tree: Path, command: str, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, ".", f"--json={place}", f"--sarif={place}"]) == 2
    said = capsys.readouterr()
    assert f"--json={place} and --sarif={place} are the same place" in said.err
    assert said.out == ""


def test_select_and_ignore(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the other rules would have done is left: the script would not run like that."""
    assert main(["migrate", ".", "--select", "HVD103"]) == 1
    assert "+hvd.init()" not in capsys.readouterr().out
    assert main(["migrate", ".", "--ignore", "HVD103"]) == 1
    assert "+print(hvd.rank())" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('target = "hvdkit"', ""),
        ("speed = 1", "no key 'speed'"),
        ("suggested = 3", "suggested = 3"),
        ('target = "x"', "target = 'x'"),
        ("= broken", "cannot be read"),
    ],
)
def test_configuration(tree: Path, capsys: pytest.CaptureFixture[str], table: str, message: str) -> None:
    (tree / "pyproject.toml").write_text(f"[tool.hvdkit.migrate]\n{table}\n")
    code = main(["migrate", "."])
    captured = capsys.readouterr()
    assert code == (2 if message else 0)
    assert message in captured.err
    assert message or "+import hvdkit.torch as hvd" in captured.out


@pytest.mark.parametrize(
    "argv",
    [
        ["migrate"],
        ["migrate", "nowhere"],
        ["migrate", "train.py", "--write", "--check"],
        ["migrate", "train.py", "--output", "train.py/x"],
        ["migrate", "train.py", "--json=nowhere/x.json"],
    ],
)
def test_bad_calls_exit_2(tree: Path, argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    assert capsys.readouterr().err.startswith("hvdkit migrate: ")
    assert (tree / "train.py").read_text() == DDP


BAD_FILES = {
    "syntax.py": b"import torch\ndef f(:\n",
    "encoding.py": b"# -*- coding: klingon -*-\nimport torch\n",
    "latin.py": b"import torch\nname = '\xe9'\n",
    "nulls.py": b"import torch\n\x00\n",
    "deep.py": b"import torch\nx = " + b"(" * 500 + b"1" + b")" * 500 + b"\n",
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_strange_file_is_told_and_the_rest_goes_on(
    tree: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / name).write_bytes(BAD_FILES[name])
    assert main(["migrate", ".", "--write", "--allow-dirty"]) == 1
    assert f"left alone {name}:" in capsys.readouterr().out
    assert (tree / name).read_bytes() == BAD_FILES[name]
    assert (tree / "train.py").read_text() == HVD


def test_a_place_is_written_as_it_is(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "[bold].py").write_text("import torch\n" + "\n" * 98 + "def f(:\n")
    assert main(["migrate", "."]) == 1
    assert "left alone [bold].py:100: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("encoding", "newline"), [("utf-8-sig", "\n"), ("utf-8", "\r\n"), ("latin-1", "\n"), ("utf-8", "\r")]
)
def test_encoding_and_line_ends_are_kept(tree: Path, encoding: str, newline: str) -> None:
    head = "# -*- coding: latin-1 -*-\n" if encoding == "latin-1" else ""
    before, after = ((head + text + "name = 'é'\n").replace("\n", newline) for text in (DDP, HVD))
    (tree / "train.py").write_bytes(before.encode(encoding))
    assert main(["migrate", ".", "--write", "--allow-dirty"]) == 0
    assert (tree / "train.py").read_bytes() == after.encode(encoding)


def test_an_empty_folder_and_a_folder_without_torch(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "empty").mkdir()
    assert main(["migrate", "empty"]) == 0
    assert "no training code found" in capsys.readouterr().out
    (tree / "empty" / "plain.py").write_text("print(1)\n")
    assert main(["migrate", "empty"]) == 0
    assert "no training code found, 1 file without a framework" in capsys.readouterr().out


@pytest.mark.parametrize("head", ["import unittest", "from unittest import TestCase", "import pytest", ""])
def test_unit_tests_are_passed_over_in_a_folder(
    tree: Path, capsys: pytest.CaptureFixture[str], head: str
) -> None:
    test = f"{head}\nimport torch\n\ndef test_learns():\n    loss.backward()\n    optimizer.step()\n"
    (tree / "test_train.py").write_text(test)
    assert main(["migrate", "."]) == 0
    said = capsys.readouterr().out
    assert "1 unit test file skipped" in said and "test_train.py" not in said
    main(["migrate", "test_train.py"])
    assert "+++ b/test_train.py" in capsys.readouterr().out


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(DDP.encode())))
    assert main(["migrate", "-"]) == 0
    sys.stdout.flush()
    assert capfdbinary.readouterr().out == HVD.encode()


def given(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_standard_input_has_reports(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given(monkeypatch, DDP)
    assert main(["migrate", "-", "--json", "-", "--sarif=found.sarif"]) == 0
    assert json.loads(capsys.readouterr().out)["files"]
    assert json.loads((tree / "found.sarif").read_text())["runs"]


def test_standard_input_may_only_be_checked(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    given(monkeypatch, DDP)
    assert main(["migrate", "-", "--check"]) == 1
    given(monkeypatch, HVD)
    assert main(["migrate", "-", "--check"]) == 0
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    "option", [["--write"], ["--output", "x"], ["--table"]], ids=lambda option: option[0]
)
def test_standard_input_has_no_file(
    option: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given(monkeypatch, DDP)
    assert main(["migrate", "-", *option]) == 2
    said = capsys.readouterr()
    assert f"{option[0]} has no file to work on" in said.err and said.out == ""


def test_no_colour_codes_reach_a_pipe(tree: Path) -> None:
    environment = {**os.environ, "NO_COLOR": "1"}
    result = subprocess.run(
        [sys.executable, "-m", "hvdkit", "migrate", "."],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert "\x1b[" not in result.stdout


def test_the_same_is_said_every_time() -> None:
    """Another process numbers its objects, and so orders its sets, otherwise."""
    command = [
        sys.executable,
        "-m",
        "hvdkit",
        "migrate",
        str(EXAMPLES),
        "--target",
        "hvdkit",
        "--allow-no-vcs",
    ]
    said = {
        subprocess.run(
            command,
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(said) == 1


@pytest.mark.parametrize(
    "script",
    [
        path
        for path in sorted(EXAMPLES.glob("*/*.py"))
        if re.fullmatch(r"(train|keras_(fit|tape))(_ddp|_mirrored)?", path.stem)
    ],
    ids=lambda path: path.relative_to(EXAMPLES).as_posix(),
)
def test_the_first_line_has_the_summary(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A diff fills more screens than one; the verdict is printed once, at the end."""
    monkeypatch.chdir(EXAMPLES)
    main(["migrate", str(script)])
    lines = capsys.readouterr().out.splitlines()
    name = script.relative_to(EXAMPLES)
    verdict = re.compile(rf"{name}: ready( with \d+ choices? \(--suggested\))?")
    assert verdict.fullmatch(lines[-1]) and not any(map(verdict.fullmatch, lines[:-1]))
    summary = re.compile(
        r"\d+ of \d+ sites? rewritten in .*nothing left to you.* Diff, checks and verdict follow\."
    )
    assert summary.fullmatch(lines[0])
    assert lines[1] == f"--- a/{name}"


def test_quiet_leaves_the_verdict(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "train.py", "--quiet"]) == 0
    assert capsys.readouterr().out == "train.py: ready\n"


def test_each_hunk_has_its_rules_and_reasons(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In its header, which git does not read: what is printed can still be applied."""
    assert main(["migrate", "train.py"]) == 0
    out = capsys.readouterr().out
    headers = [line for line in out.splitlines() if line.startswith("@@ ")]
    assert any(re.match(r"@@ -\S+ \+\S+ @@ HVD\d+: \w+", header) for header in headers), headers
    migrated = out[out.index("--- a/") : out.index("train.py after migration")]
    subprocess.run(["git", "apply", "-"], input=migrated, text=True, check=True)
    assert main(["migrate", "train.py", "--check"]) == 0


def test_conditions_that_do_not_apply_are_not_counted_as_open(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["migrate", "train.py"]) == 0
    held = re.search(
        r"train.py after migration: (\d+) of (\d+) conditions? hold; (\d+) do not apply",
        capsys.readouterr().out,
    )
    assert held is not None and held[1] == held[2]
