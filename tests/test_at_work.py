"""A command that reads for longer than a moment shows it on a terminal, and nowhere else."""

from __future__ import annotations

import io
import time

import pytest

from hvdkit import at_work


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("terminal", [True, False])
def test_it_is_shown_on_a_terminal_and_cleared(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setattr(at_work, "SILENT", 0.05)
    with at_work.at_work("check"):
        time.sleep(0.3)
    assert ("hvdkit check: reading for 0 s" in shown.getvalue()) is terminal
    assert shown.getvalue().endswith(at_work.CLEAR) is terminal


def test_a_short_run_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    with at_work.at_work("migrate"):
        pass
    assert shown.getvalue() == ""
