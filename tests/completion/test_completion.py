"""`hvdkit completion`: an interactive bash that has read the script completes what is typed."""

from __future__ import annotations

import os
import pty
import re
from pathlib import Path

import pytest

from hvdkit.cli import COMMANDS, main

READY = "ready> "


@pytest.fixture
def script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """What bash reads at its start, in a folder with a script and a folder."""
    assert main(["completion", "bash"]) == 0
    (tmp_path / "bashrc").write_text(f"{capsys.readouterr().out}\nPS1='{READY}'\n")
    (tmp_path / "train_ddp.py").touch()
    (tmp_path / "migrated").mkdir()
    return tmp_path / "bashrc"


def after_tab(script: Path, typed: str) -> str:
    """The line that bash makes of what is typed, and Tab."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(script.parent)
        os.execvpe("bash", ["bash", "--rcfile", script.name, "-i"], {**os.environ, "TERM": "dumb"})
    shown = ""
    while READY not in shown:
        shown += os.read(terminal, 4096).decode()
    # What is typed behind Tab is shown when the completion is done.
    os.write(terminal, f"{typed}\t#".encode())
    while "#" not in shown:
        shown += os.read(terminal, 4096).decode()
    os.close(terminal)
    os.waitpid(child, 0)
    return re.findall(f"{READY}(.*)#", shown)[-1]


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("hvdkit mig", "hvdkit migrate "),
        ("hvdkit migrate --wr", "hvdkit migrate --write "),
        ("hvdkit migrate train_ddp.py --inter", "hvdkit migrate train_ddp.py --interactive "),
        ("hvdkit migrate --target hor", "hvdkit migrate --target horovod "),
        ("hvdkit migrate tr", "hvdkit migrate train_ddp.py "),
        ("hvdkit migrate --output m", "hvdkit migrate --output migrated/"),
        ("hvdkit check --sarif --sel", "hvdkit check --sarif --select "),
        ("hvdkit check --json tr", "hvdkit check --json train_ddp.py "),
        ("hvdkit run -np 2 --time", "hvdkit run -np 2 --timeline "),
        ("hvdkit completion z", "hvdkit completion zsh "),
        ("hvdkit nothing", "hvdkit nothing\a"),
    ],
)
def test_tab(script: Path, typed: str, completed: str) -> None:
    assert after_tab(script, typed) == completed


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_completed(script: Path, command: str) -> None:
    # The space behind it shows that bash knows the command.
    assert after_tab(script, f"hvdkit {command}") == f"hvdkit {command} "


def test_zsh(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "zsh"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("#compdef hvdkit\n")
    assert {*re.findall(r"(?m)^ +([\w-]+):'", text)} >= {*COMMANDS}


def test_fish(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "fish"]) == 0
    text = capsys.readouterr().out
    (commands,) = re.findall(r"set -g _shtab_hvdkit_commands (.*)", text)
    assert commands.split() == [*COMMANDS]


def test_a_shtab_that_is_too_old(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("shtab.SUPPORTED_SHELLS", ["bash", "zsh"])
    assert main(["completion", "fish"]) == 2
    assert "fix: pip install --upgrade shtab" in capsys.readouterr().err


def test_an_unknown_shell(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["completion", "csh"])
    assert stop.value.code == 2
    assert "'csh'" in capsys.readouterr().err
