"""Lines in colour: only on a terminal, and never with what moves its cursor."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

import hvdkit
from hvdkit.cli import main
from hvdkit.console import console, show_line

SCRIPT = """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.utils.data.DataLoader(torch.ones(8, 2), batch_size=2):
    model(x).sum().backward()
    optimizer.step()
"""


def be_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make standard output a terminal with colours."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_colours_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    be_a_terminal(monkeypatch)
    show_line(("left alone", "red"), " file.py:100: [0]")
    assert capsys.readouterr().out == "\x1b[31mleft alone\x1b[0m file.py:100: [0]\n"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_none_where_they_are_not_wanted(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    be_a_terminal(monkeypatch)
    monkeypatch.setenv(name, value)
    show_line(("left alone", "red"))
    assert capsys.readouterr().out == "left alone\n"


@pytest.mark.parametrize("forbidden", [False, True])
def test_force_color_reaches_a_pipe(
    forbidden: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in continuous integration, whose logs show colours; NO_COLOR is stronger."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("NO_COLOR", "1" if forbidden else "")
    show_line(("left alone", "red"))
    assert ("\x1b[31m" in capsys.readouterr().out) == (not forbidden)


def test_none_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    show_line(("left alone", "red"))
    assert capsys.readouterr().out == "left alone\n"


def test_a_line_stays_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    show_line("+first\rsecond\f\a\tthird\x1b[2J")
    assert capsys.readouterr().out == "+first\\rsecond\\x0c\\x07\tthird\\x1b[2J\n"


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("wraps", [False, True])
@pytest.mark.parametrize("wanted", [False, True])
def test_no_color_leaves_no_bold_and_no_italics(
    wraps: bool, wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    be_a_terminal(monkeypatch)
    if not wanted:
        monkeypatch.setenv("NO_COLOR", "1")
    file = Terminal()
    made = console(file, wraps=wraps)
    made.print(Text("agree", style="bold green"))
    table = Table("step", title="losses")
    table.add_row("[red]1[/]")
    made.print(table)
    assert ("\x1b" in file.getvalue()) == wanted
    assert "agree" in file.getvalue()


def test_there_is_no_console_but_this_one() -> None:
    """Each would have to know of NO_COLOR."""
    root = Path(hvdkit.__file__).parent
    making = [
        path for path in root.rglob("*.py") if re.search(r"\bConsole\(", path.read_text(encoding="utf-8"))
    ]
    assert making == [root / "console.py"]


def in_terminal(environment: dict[str, str], *arguments: str) -> str:
    """What hvdkit shows in a terminal."""
    child, terminal = pty.fork()
    if child == 0:
        variables = {**os.environ, "TERM": "xterm", **environment}
        os.execve(sys.executable, [sys.executable, "-m", "hvdkit", *arguments], variables)
    shown = b""
    while True:
        try:
            data = os.read(terminal, 4096)
        except OSError:  # Linux says so where the child has ended
            break
        shown += data
    os.close(terminal)
    os.waitpid(child, 0)
    return shown.decode()


@pytest.mark.parametrize(
    "arguments",
    [
        ["migrate", "--table"],
        ["--help"],
        ["check", "--help"],
        ["migrate", "--help"],
        ["migrate", "--no-diff"],
    ],
    ids=" ".join,
)
def test_a_terminal_without_colours(arguments: list[str], tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    paths = [] if "--help" in arguments else [str(script)]
    shown = in_terminal({"NO_COLOR": "1"}, *arguments, *paths)
    assert len(shown.splitlines()) > 1
    assert "\x1b" not in shown


def test_a_terminal_with_colours(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    assert "\x1b[33m" in in_terminal({**environment, "NO_COLOR": ""}, "migrate", str(script))


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_the_table_of_conditions_fits(
    columns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(columns))
    main(["migrate", "--no-diff", "--table", "train.py"])
    _, _, below = capsys.readouterr().out.partition("not apply\n")
    table = below.partition("train.py:")[0]
    lines = [line.rstrip() for line in below.splitlines() if re.match(r"(holds|yes|open|-|) {2}", line)]
    assert len(lines) > 10
    assert max(map(len, lines)) <= columns
    # Wrapped between words, and nothing is cut.
    (start,) = {line.index("condition") for line in lines if line.startswith("holds")}
    (detail,) = {line.index("shown by") for line in lines if line.startswith("holds")}
    names = " ".join(line[start:detail].strip() for line in lines)
    assert "every program that calls Horovod starts it" in names
    assert "no DDP or process group is left" in names
    assert "\N{HORIZONTAL ELLIPSIS}" not in table


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_a_wide_table_is_not_cut(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """hvdkit verify has a column for each rank."""
    monkeypatch.setenv("COLUMNS", str(columns))
    table = Table("step", *(f"loss on rank {rank}" for rank in range(16)), box=None, pad_edge=False)
    table.add_row("1", *["0.250000"] * 16)
    file = io.StringIO()
    console(file).print(table)
    head, row = file.getvalue().splitlines()
    assert head.split("  ")[-1].strip() == "loss on rank 15"
    assert row.count("0.250000") == 16


@pytest.mark.parametrize("columns", ["60", "80", "200"])
@pytest.mark.parametrize(
    "arguments", [["migrate", "--help"], ["run", "--help"], ["verify", "--help"]], ids=" ".join
)
def test_help_fits(columns: str, arguments: list[str]) -> None:
    """The options are wrapped; usage, examples and exit codes are lines to copy."""
    command = [sys.executable, "-m", "hvdkit", *arguments]
    done = subprocess.run(
        command, env={**os.environ, "COLUMNS": columns}, capture_output=True, text=True, check=True
    )
    options, _, _ = done.stdout.partition("\nexamples:")
    wrapped = [line for line in options.splitlines() if line.startswith("  ")]
    assert len(wrapped) > 10
    assert max(map(len, wrapped)) <= int(columns)
