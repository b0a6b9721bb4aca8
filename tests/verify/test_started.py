"""By which interpreter a script is run, and how it is started where only a run of it shows that."""

from __future__ import annotations

import json
import site
import sys
import venv
from pathlib import Path

import pytest

from hvdkit.observe.records import Run
from hvdkit.verify import interpreter
from hvdkit.verify.detect import Launcher, Start, how_to_start
from hvdkit.verify.hook.beginning import LOADED
from hvdkit.verify.hook.settings import Settings
from hvdkit.verify.interpreter import interpreter_of
from hvdkit.verify.loaded import start_of_ranks
from hvdkit.verify.scene import Request, Scene

TRAIN = """\
import torch
from pack.start import begin

begin()
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
"""
START = """\
import os
import torch.distributed

def begin():
    if "RANK" in os.environ:
        torch.distributed.init_process_group("gloo")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A script whose package is in a folder that only its environment knows: `pip install -e lib`."""
    here = tmp_path / "project"
    for place, text in {"run/train.py": TRAIN, "lib/src/pack/start.py": START}.items():
        (here / place).parent.mkdir(parents=True)
        (here / place).write_text(text)
    environment(here / ".venv", here / "lib" / "src", *site.getsitepackages())
    return here


def environment(folder: Path, *path: Path | str) -> Path:
    """Make one that finds what is in some folders; gives its Python."""
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "found.pth").write_text("".join(f"{each}\n" for each in path))
    return folder / "bin" / "python"


@pytest.mark.launch
def test_ranks_that_only_a_run_shows(project):
    script, said = project / "run" / "train.py", list[str]()
    scratch = project.parent / "scratch"
    scratch.mkdir()
    start = how_to_start(script)
    assert start.launcher is Launcher.SINGLE
    scene = Scene(Request(script, script), project, scratch, said.append)
    run = scene.run("original", script, start, Settings("", 1, 2))
    assert said[0] == f"original: plain python, 1 rank, {project}/.venv/bin/python"
    assert start_of_ranks(script, run, project) == Start(Launcher.TORCHRUN)


def test_a_group_that_a_library_has_started(tmp_path):
    (tmp_path / "train.py").write_text("import engine\n")
    (tmp_path / LOADED).write_text(json.dumps({"modules": [], "process group": True}))
    assert start_of_ranks(tmp_path / "train.py", Run(tmp_path), tmp_path) == Start(Launcher.TORCHRUN)


def test_a_script_of_one_process(tmp_path):
    (tmp_path / "train.py").write_text("import engine\n")
    assert start_of_ranks(tmp_path / "train.py", Run(tmp_path), tmp_path) is None
    (tmp_path / LOADED).write_text(json.dumps({"modules": ["train.py", "gone.py"], "process group": False}))
    assert start_of_ranks(tmp_path / "train.py", Run(tmp_path), tmp_path) is None


def test_the_environment_that_a_script_lives_in(tmp_path, monkeypatch):
    (tmp_path / "a" / "b").mkdir(parents=True)
    script, said = tmp_path / "a" / "b" / "train.py", list[str]()
    python = environment(tmp_path / "a" / "venv")
    assert interpreter_of(script, tmp_path, said.append) == sys.executable
    assert said == [f"{tmp_path}/a/venv has no Horovod: the scripts are run by {sys.executable}"]
    monkeypatch.setattr(interpreter, "ASK", "")
    assert interpreter_of(script, tmp_path, said.append) == str(python)
    assert interpreter_of(script, tmp_path / "a" / "b", said.append) == sys.executable  # outside the folder
    near = environment(tmp_path / "a" / "b")  # made of the folder itself
    assert interpreter_of(script, tmp_path, said.append) == str(near)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "a" / "b"))
    assert interpreter_of(script, tmp_path, said.append) == sys.executable
