"""What `hvdkit migrate --verify` writes: what agrees, and what was not checked where that is accepted."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hvdkit.cli import main
from hvdkit.migrate.command import _refused


@pytest.mark.parametrize(
    ("result", "accepted", "code"),
    [
        (None, False, 0),
        ((True, 0), False, 0),
        ((False, 1), True, 1),
        ((True, 3), False, 3),
        ((True, 3), True, 0),
    ],
)
def test_what_is_written(result: Any, accepted: bool, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    given: Any = result and SimpleNamespace(holds=result[0], code=result[1])
    assert _refused(given, Namespace(accept_unchecked=accepted)) == code
    assert bool(capsys.readouterr().err) is bool(code)


def test_the_option_is_for_verify_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.py").touch()
    assert main(["migrate", str(tmp_path / "train.py"), "--accept-unchecked"]) == 2
    assert "add --verify" in capsys.readouterr().err
