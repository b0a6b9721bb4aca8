"""`hvdkit explain` on the command line."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from hvdkit.cli import main

REFUSED = """\
[0]<stderr>:FutureWarning: old
ValueError: Requested more processes (4) than there are available slots (2)
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "job.log"
    path.write_text(REFUSED)
    return path


def test_a_cause_is_told_with_its_place_and_what_is_harmless(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", "--log", str(log)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("cause: 4 ranks were requested and the hosts have fewer slots  [slots]\n")
    assert f"{log}:2: ValueError: Requested more processes (4)" in out
    assert f"harmless: {log}:1:" in out


def test_json_and_stdin(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(REFUSED.encode())))
    assert main(["explain", "--log", "-", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["cause"], told["line"], told["harmless"][0]["line"]) == ("slots", 2, 1)


def test_what_is_unknown_says_what_to_try(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "binary"
    path.write_bytes(bytes(range(256)))
    assert main(["explain", "--log", str(path)]) == 1
    out = capsys.readouterr().out
    assert out.startswith("unknown: ") and "try next" in out
    assert main(["explain", "--log", str(path), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["cause"] is None and told["next"]


@pytest.mark.parametrize("arguments", [[], ["HVD201", "--log", "x"], ["HVD201", "--json"], ["HVD999"]])
def test_arguments_that_mean_nothing(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", *arguments]) == 2
    assert "fix: " in capsys.readouterr().err


def test_a_log_that_is_not_there_empty_or_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").write_text("\n")
    for name, said in (("none", "No such file"), ("empty", "is empty"), (".", "directory")):
        assert main(["explain", "--log", str(tmp_path / name)]) == 2
        assert said in capsys.readouterr().err


def test_a_rule_is_still_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "hvd201"]) == 0
    assert capsys.readouterr().out.startswith("# HVD201")


@pytest.mark.timeout(60)
def test_a_log_without_an_end_is_not_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--log", "/dev/zero"]) == 2
    assert "tail -c" in capsys.readouterr().err
