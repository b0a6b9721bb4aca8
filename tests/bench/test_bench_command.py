"""hvdkit bench: what it refuses, and what it makes of real jobs. No test depends on speed."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from hvdkit.bench import plot, report
from hvdkit.cli import main
from hvdkit.earlier import is_report
from tests.bench.records import record

# Rank 1 is late by much more than this machine can be; the script would train for 200 steps.
SCRIPT = """\
import sys, time
import horovod.torch as hvd
import torch

hvd.init()
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=float(sys.argv[1]))
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
for _ in range(200):
    optimizer.zero_grad()
    loss = model(torch.ones(2, 8)).sum()
    time.sleep(0.2 if hvd.rank() else 0.0)
    loss.backward()
    optimizer.step()
raise SystemExit("not measured")
"""


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["no-such-model"], "neither a model"),
        (["mlp", "--", "--lr", "1"], "mlp has no arguments"),
        (["mlp", "--ddp", __file__], "DDP trains the same model"),
        (["mlp", "--blocks", "0"], "--blocks 0"),
        (["mlp", "-np", "0"], "-np 0"),
        (["mlp", "--tuned", "no-such.toml"], "cannot read no-such.toml"),
        (["mlp", "-np", "2", "--predict", "2"], "--predict 2 from 2 ranks"),
        (["mlp", "-np", "1", "--predict", "8"], "two ranks or more"),
    ],
)
def test_bad_input(arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *arguments]) == 2
    assert part in capsys.readouterr().err


@pytest.mark.launch
def test_a_model_next_to_ddp(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture, settings = tmp_path / "bench.png", tmp_path / "settings.toml"
    settings.write_text('controller = "gloo"\n\n[variables]\nOMP_NUM_THREADS = "1"\n')
    arguments = ["mlp", "-np", "2", "--blocks", "1", "--steps", "5", "--predict", "64", "--json"]
    arguments += ["--tuned", str(settings)]
    assert main(["bench", *arguments, f"--png={picture}"]) == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert {*found["kinds"]} == {"horovod", "ddp", "one"}
    assert (len(found["hosts"]), found["unit"], found["blocks"]) == (2, "samples", 1)
    assert (found["controller"], found["threads"]) == ("gloo", 1)
    # Three layers of 1024 and one of 10, with biases, in float32.
    assert found["size"] == 4 * (3 * (1024 * 1024 + 1024) + 1024 * 10 + 10)
    assert found["predicted"]["ranks"] == 64
    assert found["predicted"]["step"] > found["predicted"]["computing"] > 0
    assert "block 1 of 1: ddp" in printed.err
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.launch
def test_the_first_steps_of_a_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    assert (
        main(["bench", "train.py", "-np", "2", "--blocks", "1", "--steps", "6", "--json", "--", "0.1"]) == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert {*found["kinds"]} == {"horovod", "one"}
    assert (found["unit"], found["late"]["rank"], found["late"]["often"]) == ("steps", 1, 1.0)
    assert found["waiting"] > found["communicating"]


@pytest.mark.launch
def test_a_script_that_ends_too_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text(SCRIPT.replace("range(200)", "range(3)").partition("raise")[0])
    monkeypatch.chdir(tmp_path)
    assert main(["bench", "train.py", "-np", "2", "--blocks", "1", "--", "0.1"]) == 2
    assert "train.py ended after 2 steps, and 51 are needed" in capsys.readouterr().err


@pytest.mark.launch
def test_ctrl_c_leaves_no_rank(tmp_path: Path) -> None:
    bench = subprocess.Popen(
        [sys.executable, "-m", "hvdkit", "bench", "transformer", "-np", "2", "--steps", "100000"],
        stderr=subprocess.PIPE,
        text=True,
    )

    def ranks() -> list[psutil.Process]:
        """Those of this benchmark; what has just ended has no command line any more."""
        found = []
        for each in children:
            with contextlib.suppress(psutil.NoSuchProcess):  # psutil's ZombieProcess is one
                if "hvdkit.bench.rank" in each.cmdline():
                    found.append(each)
        return found

    children: list[psutil.Process] = []
    while len(ranks()) < 2:
        assert bench.poll() is None
        time.sleep(0.2)
        children = psutil.Process(bench.pid).children(recursive=True)
    bench.send_signal(signal.SIGINT)
    _, errors = bench.communicate(timeout=120)
    assert bench.returncode == 130
    assert errors.endswith("interrupted\n")
    assert not ranks()


def test_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = [
        {
            "horovod": record([[0.05] * 20, [0.08] * 20], [[0.04] * 20, [0.01] * 20], alone=0.04),
            "one": record([[0.06] * 20]),
            "ddp": record([[0.1] * 20] * 2),
        }
    ]
    report.show(report.data("mlp", blocks, None))
    text = capsys.readouterr().out
    assert "scaling efficiency against one rank: 67 (67 to 67) %" in text
    assert "a step under Horovod over one under DDP: 0.90 (0.90 to 0.90)" in text
    assert f"a step  {'#' * 43}{'w' * 10}{'-' * 7}\n" in text
    assert "75 % of it is hidden" in text
    assert "rank 1 on host1 is the last in 100 % of the steps, by 30.0 ms" in text


def test_a_picture_replaces_an_earlier_one_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = report.data("mlp", [{"horovod": record([[0.1] * 3]), "one": record([[0.1] * 3])}], None)
    drawn = plot.drawn(found)
    (tmp_path / "bench.png").write_bytes(drawn)
    (tmp_path / "cat.png").write_bytes(drawn.replace(b"hvdkit", b"camera"))
    assert is_report(tmp_path / "bench.png")
    assert main(["bench", "mlp", f"--png={tmp_path}/cat.png"]) == 2
    assert "no earlier report" in capsys.readouterr().err
    assert main(["bench", "mlp", f"--png={tmp_path}/none/bench.png"]) == 2
    assert "there is no folder" in capsys.readouterr().err
