"""`hvdkit migrate --interactive` in a terminal: what is accepted, what is left, and what is written."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from hvdkit.cli import main
from hvdkit.migrate.engine import make_plan, run_pass
from hvdkit.migrate.engine.questions import make_questions
from hvdkit.migrate.facts import Options
from hvdkit.migrate.rules import rules_for

SCRIPT = """\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(dist.get_rank())
for step in range(3):
    optimizer.zero_grad()
    loss = model(torch.rand(8, 2)).sum()
    loss.backward()
    optimizer.step()
dist.all_reduce(loss)
print(loss.item(), dist.get_rank(), dist.get_world_size())
"""
LEFT = "# hvdkit: TODO[{}] you left this as it is; hvdkit migrate rewrites it once this TODO is removed\n"
EXAMPLES = Path(__file__).parents[2] / "examples"
CTRL_C, CTRL_D = "\x03", "\x04"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clean git repository with one DDP script, and the current folder in it."""
    (tmp_path / "train.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    return committed(tmp_path)


def committed(folder: Path) -> Path:
    identity = ["-c", "user.name=t", "-c", "user.email=t@t"]
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "before"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


def typed(answers: str, *arguments: str) -> tuple[int, str]:
    """The exit code of `hvdkit migrate -i` in a terminal in which these keys are typed, and what it shows."""
    command = [sys.executable, "-m", "hvdkit", "migrate", "-i", *arguments]
    child, terminal = pty.fork()
    if child == 0:
        os.execve(command[0], command, {**os.environ, "NO_COLOR": "1", "COLUMNS": "110"})
    shown, asked = b"", 0
    while True:
        try:
            data = os.read(terminal, 4096)
        except OSError:  # Linux says so where the child has ended
            break
        shown += data
        if shown.count(b"]? ") > asked:
            key = answers[asked : asked + 1] or CTRL_D
            while psutil.Process(child).status() == psutil.STATUS_RUNNING:
                time.sleep(0.01)  # a signal between prompt and read would only be seen after the next key
            os.write(terminal, key.encode() if key in (CTRL_C, CTRL_D) else f"{key}\n".encode())
            asked += 1
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode().replace("\r\n", "\n")


def test_all_accepted_is_what_write_writes(tree: Path) -> None:
    (plan,) = make_plan([tree / "train.py"], Options()).files
    code, shown = typed("yyyy", "train.py")
    assert (tree / "train.py").read_text() == plan.after
    assert code == 0
    assert "(1/4) Rewrite this [y,n,a,d,q,?]? y\n" in shown
    assert shown.index("(4/4)") < shown.index("train.py: ready\nwrote 1 file")
    assert main(["migrate", "--undo"]) == 0
    assert (tree / "train.py").read_text() == SCRIPT


def test_what_makes_a_program_a_whole_is_one_question(tree: Path) -> None:
    whole, *others = make_questions([tree / "train.py"], Options())
    assert [(each.rule, each.line) for each in whole.findings] == [
        ("HVD101", 5),
        ("HVD201", 6),
        ("HVD401", 7),
    ]
    assert whole.stays == {tree / "train.py"}
    # Line 15 asks for two numbers: one question.
    lines = [[(each.rule, each.line) for each in asked.findings] for asked in others]
    assert lines == [[("HVD103", 8)], [("HVD501", 14)], [("HVD103", 15), ("HVD103", 15)]]


def test_one_change_is_left(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, shown = typed("yyny", "train.py")
    text = (tree / "train.py").read_text()
    assert code == 1
    assert LEFT.format("HVD501") + "dist.all_reduce(loss)\n" in text
    assert "print(loss.item(), hvd.rank(), hvd.size())" in text
    # The text decides whether the conditions hold: this one does not.
    assert "train.py:14: open: no DDP or process group is left: all_reduce" in shown
    assert "train.py:14: HVD501 left as it is: all_reduce becomes allreduce_" in shown
    assert "train.py: 2 things left\nwrote 1 file" in shown
    # A later run leaves it, too, until the marker is removed.
    assert main(["migrate", "train.py"]) == 1
    assert "0 of 1 site rewritten in 0 files, 2 left to you" in capsys.readouterr().out
    (tree / "train.py").write_text(text.replace(LEFT.format("HVD501"), ""))
    main(["migrate", "train.py"])
    assert "+hvd.allreduce_(loss, op=hvd.Sum)" in capsys.readouterr().out


def test_half_a_program_is_not_written(tree: Path) -> None:
    code, shown = typed("n", "train.py")
    assert code == 1
    assert (tree / "train.py").read_text() == SCRIPT
    assert "all of this or none: without it, the program stays as it is\n(1/4)" in shown
    assert "(2/4)" not in shown  # nothing is left to ask
    assert "train.py: refused: left as it is: init_process_group becomes hvd.init()" in shown
    assert "wrote" not in shown


def test_no_other_rule_does_what_was_left(tree: Path) -> None:
    """Gradients that no optimizer may average are not averaged after the backward pass instead (HVD416)."""
    whole, *_ = make_questions([tree / "train.py"], Options())
    plan = make_plan([tree / "train.py"], Options(left=whole.left))
    assert [each.rule for each in plan.left] == ["HVD101", "HVD201", "HVD401"]
    assert "HVD416" not in {each.rule for each in plan.findings}


def test_lines_that_are_left_are_those_of_the_text_before(tree: Path) -> None:
    """In the rewritten text another statement may be in that line: there, only markers count."""
    *_, last = make_questions([tree / "train.py"], Options())
    done = run_pass([tree / "train.py"], Options(left=last.left), rules_for)
    (file,) = done.files
    assert file.changed
    assert done.after.options.left == frozenset()


@pytest.mark.parametrize("script", ["mnist/train_ddp.py", "mnist/keras_tape_mirrored.py", "gan/train_ddp.py"])
def test_each_change_can_be_left(script: str) -> None:
    """Either the program stays as it is, or the rest is written and a later run changes nothing."""
    path = EXAMPLES / script
    questions = make_questions([path], Options())
    assert len(questions) > 3
    for asked in questions:
        plan = make_plan([path], Options(left=asked.left))
        assert not any(file.problem for file in plan.files)
        assert {each.rule for each in asked.left} & {each.rule for each in plan.left}
        assert asked.stays.isdisjoint(file.path for file in plan.changed)
        assert bool(asked.stays) == (not plan.changed)


@pytest.mark.parametrize(
    ("keys", "asked", "left"),
    [
        ("ya", 2, []),
        ("yd", 2, ["HVD103", "HVD501", "HVD103"]),
        ("yyd", 3, ["HVD501", "HVD103"]),
        ("yq", 2, ["HVD103", "HVD501", "HVD103"]),
        (f"yy{CTRL_D}", 3, ["HVD501", "HVD103"]),
        ("y?xya", 5, []),
    ],
)
def test_keys(tree: Path, keys: str, asked: int, left: list[str]) -> None:
    code, shown = typed(keys, "train.py")
    assert code == int(bool(left))
    assert shown.count("Rewrite this [") == asked
    # ? shows what the keys do, and so does one that is none.
    assert shown.count("q - leave this and everything later in all files\n") == keys.count("?") * 2
    text = (tree / "train.py").read_text()
    assert text.count("you left this as it is") == len(left)
    assert all(LEFT.format(rule) in text for rule in left)


def test_keys_for_a_file_end_with_it(tree: Path) -> None:
    """a and d are for one file; the wholes of all programs are asked about first."""
    (tree / "other.py").write_text(SCRIPT)
    committed(tree)
    code, _ = typed("ynyyy", ".")
    assert code == 1
    assert (tree / "train.py").read_text() == SCRIPT
    assert "TODO" not in (tree / "other.py").read_text()
    assert main(["migrate", "--undo"]) == 0
    typed("yydyyy", ".")
    assert (tree / "other.py").read_text().count("TODO[") == 3
    assert "TODO" not in (tree / "train.py").read_text()


def test_programs_that_share_their_start_are_one_question(tree: Path) -> None:
    (tree / "start.py").write_text(
        "import torch.distributed as dist\n\n\ndef start():\n    dist.init_process_group('gloo')\n"
    )
    script = SCRIPT.replace('dist.init_process_group("gloo")', "start()").replace(
        "import torch\n", "import torch\nfrom start import start\n"
    )
    for name in ("train.py", "other.py"):
        (tree / name).write_text(script)
    whole, *_ = make_questions([tree], Options())
    assert {each.path.name for each in whole.files} == {"start.py", "train.py", "other.py"}
    committed(tree)
    code, _ = typed("n", ".")
    assert code == 1
    assert (tree / "train.py").read_text() == (tree / "other.py").read_text() == script


def test_a_statement_that_shares_its_line_gets_one_for_its_marker(tree: Path) -> None:
    (tree / "train.py").write_text(SCRIPT.replace("dist.all_reduce(loss)", "print(1); dist.all_reduce(loss)"))
    committed(tree)
    code, _ = typed("yyny", "train.py")
    assert code == 1
    marked = f"print(1)\n{LEFT.format('HVD501')}dist.all_reduce(loss)\n"
    assert marked in (tree / "train.py").read_text()


def test_no_marker_fits_into_a_line_of_a_notebook(tree: Path) -> None:
    """Without one, a later run would rewrite what was left: the program stays as it is."""
    text = SCRIPT.replace("dist.all_reduce(loss)", "print(1); dist.all_reduce(loss)")
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": text}]
    notebook = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4})
    (tree / "train.ipynb").write_text(notebook)
    committed(tree)
    code, shown = typed("yyny", "train.ipynb")
    assert code == 1
    assert (tree / "train.ipynb").read_text() == notebook
    assert "train.ipynb: refused: left as it is: all_reduce becomes allreduce_" in shown


def test_ctrl_c_writes_nothing(tree: Path) -> None:
    code, shown = typed(f"yy{CTRL_C}", "train.py")
    assert code == 130
    assert "hvdkit migrate: interrupted" in shown
    assert (tree / "train.py").read_text() == SCRIPT
    assert sorted(path.name for path in tree.iterdir()) == [".git", "train.py"]


def test_a_tree_that_is_dirty_is_refused_before_the_first_question(tree: Path) -> None:
    (tree / "train.py").write_text(SCRIPT + "\n")
    code, shown = typed("", "train.py")
    assert code == 2
    assert "uncommitted change" in shown
    assert "Rewrite" not in shown


def test_a_report_on_standard_output_leaves_no_room_for_questions(tree: Path) -> None:
    code, shown = typed("", "train.py", "--json", "-")
    assert code == 2
    assert "give the report a file: --json=hvdkit.json" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train.py"], "standard input is not a terminal"),
        (["train.py", "--write"], "exclude each other"),
        (["-"], "--interactive has no file to work on"),
    ],
)
def test_without_a_terminal(
    tree: Path, arguments: list[str], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    command = [sys.executable, "-m", "hvdkit", "migrate", "--interactive", *arguments]
    assert subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode == 2
    assert said in capfd.readouterr().err
    assert (tree / "train.py").read_text() == SCRIPT
