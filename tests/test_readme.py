"""The README shows what hvdkit does today, and its commands work as they are typed."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from hvdkit.cli import COMMANDS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
QUICKSTART = ROOT / "examples" / "quickstart"
CONSOLES = re.findall(r"```console\n(.*?)```", README, re.DOTALL)


def hvdkit(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "hvdkit", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def typed(console: str) -> list[list[str]]:
    """The words of each command of hvdkit's."""
    lines = [line[2:] for line in console.splitlines() if line.startswith("$ hvdkit ")]
    return [shlex.split(line, comments=True)[1:] for line in lines]


def test_the_diff_is_the_whole_real_one() -> None:
    (shown,) = re.findall(r"```diff\n(.*?)\n```", README, re.DOTALL)
    assert f"\n{shown}\n" in hvdkit(QUICKSTART, "migrate", "train.py")


def test_the_tutorial_has_the_same_script() -> None:
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    script = page.partition("```python\n")[2].partition("```")[0]
    assert script == (QUICKSTART / "train.py").read_text(encoding="utf-8")


@pytest.mark.launch
def test_verify_prints_what_is_shown() -> None:
    (command,) = typed(CONSOLES[0])
    real = [line.rstrip() for line in hvdkit(QUICKSTART, *command).splitlines()]
    assert CONSOLES[0].splitlines()[1:] == real


@pytest.mark.launch
def test_the_commands_work_as_typed(tmp_path: Path) -> None:
    folder = tmp_path / "quickstart"
    shutil.copytree(QUICKSTART, folder)
    (use,) = (console for console in CONSOLES if "cd examples/quickstart" in console)
    commands = typed(use)
    assert [words[0] for words in commands] == ["init", "migrate", "migrate", "verify", "run"]
    for words in commands:
        hvdkit(folder, *words)


def test_every_command_named_is_one() -> None:
    code = "\n".join([*re.findall(r"^\$ (.*)", README, re.M), *re.findall(r"`([^`\n]+)`", README)])
    assert {*re.findall(r"^hvdkit ([a-z][a-z-]+)", code, re.M)} <= {*COMMANDS}


def test_the_hooks_and_the_action_are_there() -> None:
    hooks, workflow = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", README, re.DOTALL))
    offered = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    named = {hook["id"] for repo in hooks["repos"] for hook in repo["hooks"]}
    assert named <= {hook["id"] for hook in offered}
    assert workflow["jobs"]["hvdkit"]["steps"][1]["with"].keys() <= action["inputs"].keys()


def test_links_are_few_and_lead_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", README)
    assert len(targets) <= 10
    for target in targets:
        assert (ROOT / target).exists(), target
