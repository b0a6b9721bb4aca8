"""action.yml: GitHub's schema accepts it, and its steps do what it says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.github_schemas import violations

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: dict[str, dict[str, Any]] = {
    step.get("name", step.get("uses")): step for step in ACTION["runs"]["steps"]
}
# Starts Horovod, and gives every rank the same data.
WRONG = """\
import horovod.torch as hvd
import torch

hvd.init()
model = torch.nn.Linear(2, 1)
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
for x in torch.utils.data.DataLoader(torch.ones(8, 2), batch_size=2):
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
"""
DDP = "import torch.distributed as dist\n\ndist.init_process_group('gloo')\n"


def test_no_step_starts_python_in_the_folder_of_the_pull_request() -> None:
    """`python -m` and `python -c` look there for json.py and the like."""
    assert [name for name, step in STEPS.items() if re.search(r"python\S* -[mc]", step.get("run", ""))] == []


def filled(text: str, inputs: dict[str, str]) -> str:
    """A value of a step, with the inputs that it names."""
    return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], text)


def run_step(name: str, folder: Path, path: str, **given: str) -> int:
    """The exit code of a step, run as GitHub runs it."""
    inputs = {**{key: value["default"] for key, value in ACTION["inputs"].items()}, **given}
    variables = {key: filled(value, inputs) for key, value in STEPS[name].get("env", {}).items()}
    environment = {**os.environ, "PATH": path, "GITHUB_ACTION_PATH": str(ROOT), **variables}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[name]["run"]]
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode


def here() -> str:
    """A PATH on which this Python's programs are the first."""
    return os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))


@pytest.mark.parametrize(
    ("given", "script", "rule"),
    [
        ({}, WRONG, "HVD81"),
        ({"paths": "train.py other.py"}, WRONG, "HVD81"),
        ({"command": "migrate --check"}, DDP, "HVD101"),
    ],
)
def test_what_is_found_fails_the_step_and_is_in_the_report(
    given: dict[str, str], script: str, rule: str, tmp_path: Path
) -> None:
    for name in ("train.py", "other.py"):
        (tmp_path / name).write_text(script)
    assert run_step("Run hvdkit", tmp_path, here(), **given) == 1
    assert (tmp_path / "train.py").read_text() == script
    report = tmp_path / STEPS["Show what was found in the code"]["with"]["sarif_file"]
    results = json.loads(report.read_text())["runs"][0]["results"]
    assert any(result["ruleId"].startswith(rule) for result in results)


def test_where_nothing_is_found(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('hello')\n")
    assert run_step("Run hvdkit", tmp_path, here()) == 0
    assert json.loads((tmp_path / "hvdkit.sarif").read_text())["runs"][0]["results"] == []


@pytest.mark.build
def test_it_installs_the_checkout(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    path = os.pathsep.join((str(tmp_path / "venv" / "bin"), os.environ["PATH"]))
    assert run_step("Install hvdkit", tmp_path, path) == 0
    (tmp_path / "train.py").write_text(DDP)
    assert run_step("Run hvdkit", tmp_path, path, command="migrate --check", paths="train.py") == 1


def test_each_input_is_used() -> None:
    used = re.findall(r"inputs\.(\w+)", (ROOT / "action.yml").read_text(encoding="utf-8"))
    assert {*used} == {*ACTION["inputs"]}


def test_the_schema_accepts_it() -> None:
    assert violations("github-actions", ROOT / "action.yml") == ""


def test_the_workflow_on_the_page(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "workflow.yml").write_text(block)
    assert violations("github-workflows", tmp_path / "workflow.yml") == ""
    steps = yaml.safe_load(block)["jobs"]["hvdkit"]["steps"]
    (step,) = (step for step in steps if "hvdkit@" in step["uses"])
    assert step["with"].keys() <= ACTION["inputs"].keys()
