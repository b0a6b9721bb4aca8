"""Lines in colour: only on a terminal, and never with what moves its cursor."""

from __future__ import annotations

import sys

import pytest

from hvdkit.console import show_line


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


def test_none_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    show_line(("left alone", "red"))
    assert capsys.readouterr().out == "left alone\n"


def test_a_line_stays_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    show_line("+first\rsecond\f\a\tthird\x1b[2J")
    assert capsys.readouterr().out == "+firstsecond\tthird[2J\n"
