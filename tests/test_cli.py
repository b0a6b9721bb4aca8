"""The command's frame: it starts without the frameworks and answers bad input with a line and exit code 2."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hvdkit.cli import COMMANDS, main

HEAVY = ("torch", "tensorflow", "horovod", "numpy", "rich", "hvdkit.migrate")


ARGUMENTS = {"migrate": ["migrate", "-"], "rules": ["rules"], "explain": ["explain", "HVD201"]}


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_help_imports_no_framework() -> None:
    code = (
        "import sys; from hvdkit.cli import main; main(['--help']); "
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    result = python(code)
    assert result.returncode == 0
    assert result.stderr.strip() == "[]"
    assert all(command in result.stdout for command in COMMANDS)


@pytest.mark.parametrize("command", ARGUMENTS)
def test_migrating_needs_no_framework(command: str) -> None:
    code = (
        "import sys\n"
        "class Wall:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('torch', 'tensorflow', 'horovod', 'numpy'):\n"
        "            raise ImportError(f'{name} must not be needed')\n"
        "sys.meta_path.insert(0, Wall())\n"
        "from hvdkit.cli import main\n"
        f"argv = {ARGUMENTS[command]!r}\n"
        "import io; sys.stdin = io.TextIOWrapper(io.BytesIO(b'import torch\\n'))\n"
        "sys.exit(main(argv))"
    )
    result = python(code)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert f"usage: hvdkit {command}" in text
    assert f"hvdkit {command}" in text.partition("\n")[2]


def test_an_unknown_command_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrte"]) == 2
    assert "did you mean `hvdkit migrate`?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "meant"),
    [
        (["--hlep"], "--help"),
        (["help", "migrte"], "migrate"),
        (["chekc", "train.py"], "check"),
    ],
)
def test_what_was_probably_meant(argv: list[str], meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    assert f"did you mean `hvdkit {meant}`?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "meant"),
    [
        (["migrate", "--selct", "HVD2", "train.py"], "--select"),
        (["check", "train.py", "--jsno=x"], "--json"),
        (["verify", "a.py", "b.py", "--stps", "3"], "--steps"),
        (["run", "--glooo", "python", "train.py"], "--gloo"),
        (["docker", "--kubernets", "train.py"], "--kubernetes"),
        (["doctor", "--onyl", "shm"], "--only"),
        (["rules", "--jsn"], "--json"),
        (["explain", "--lgo", "job.log"], "--log"),
        (["setup-ssh", "--hosftile", "hosts"], "--hostfile"),
        (["install-horovod", "--dry-rnu"], "--dry-run"),
    ],
)
def test_an_unknown_option_names_the_nearest(
    argv: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(argv)
    assert stop.value.code == 2
    assert f"did you mean {meant}?" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["help", command])
    assert stop.value.code == 0
    assert f"usage: hvdkit {command}" in capsys.readouterr().out


@pytest.mark.parametrize("argv", [["help"], ["help", "help"], ["-h"], ["--help", "migrate"]])
def test_help_is_the_usage(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 0
    assert capsys.readouterr().out.startswith("usage: hvdkit COMMAND")


def test_no_command_shows_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage: hvdkit" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    from hvdkit import __version__

    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"hvdkit {__version__}\n"


def test_a_missing_path_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "no-such-file.py"]) == 2
    assert "no-such-file.py does not exist" in capsys.readouterr().err
