"""The command on this machine, and a report that goes on whatever a check does."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hvdkit.cli import main
from hvdkit.examination.check import Check, Request
from hvdkit.examination.checks import CHECKS
from hvdkit.examination.finding import Level, ok
from hvdkit.examination.gather import gather
from hvdkit.examination.judge import judge


def crash(*_: Any) -> Any:
    raise RuntimeError("the check itself")


def slow(_: Request) -> None:
    time.sleep(600)


@pytest.mark.parametrize(("file", "check"), [("horovod.py", "horovod"), ("torch/__init__.py", "torch")])
def test_a_file_that_hides_a_package_is_named(
    file: str, check: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Building Horovod again, or uninstalling torch, would change nothing."""
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("import horovod.torch\n")
    monkeypatch.chdir(tmp_path)
    assert main(["doctor", "--only", check]) == 1
    out = capsys.readouterr().out
    assert f"{tmp_path / file} hides the package" in out and f"fix: rename {tmp_path / file}" in out


def test_a_check_that_crashes_or_hangs_is_a_line_of_the_report() -> None:
    checks = [
        Check("crashes", "one that crashes", crash, judge=lambda *_: [ok("")]),
        Check("hangs", "one that hangs", slow, judge=lambda *_: [ok("")], timeout_s=0.2),
        Check("judges", "one that cannot judge", lambda _: 1, judge=crash),
        Check("works", "one that works", lambda _: 1, judge=lambda *_: [ok("fine")]),
    ]
    began = time.monotonic()
    facts = {"": gather(checks, Request())}
    assert time.monotonic() - began < 60
    found = {each.check: each for each in judge(checks, facts, {"": Request()})}
    assert found["works"].level is Level.OK
    for name, part in [("crashes", "RuntimeError"), ("hangs", "within 0.2 s"), ("judges", "RuntimeError")]:
        assert found[name].level is Level.UNKNOWN and part in found[name].seen
        assert f"--only {name}" in found[name].fix


def test_a_request_survives_the_way_to_a_host() -> None:
    from hvdkit.examination.check import Target

    request = Request(
        "a", 2, 4, "t.py", 1, "e", {"b": Target("10.0.0.2", (1, 2), False)}, ("-p", "22"), "eth0"
    )
    assert Request.from_json(json.loads(json.dumps(request.as_json()))) == request


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(CHECKS)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [(["--only", "none"], "hvdkit doctor --list"), (["-H", "a;id"], "not a host name")],
)
def test_bad_input(arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", *arguments]) == 2
    assert part in capsys.readouterr().err


def test_only_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--only", "limits,shm", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [each["check"] for each in report["findings"]] == ["limits", "shm"]
    assert set(report["facts"][""]) == {"limits", "shm"}


def test_a_port_that_is_taken_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("", 0)) as holder:
        port = holder.getsockname()[1]
        assert main(["doctor", "--only", "port", "--ctrl-port", str(port)]) == 1
    assert f"sport = :{port}" in capsys.readouterr().out
    assert main(["doctor", "--only", "port", "--ctrl-port", str(port)]) == 0


def test_an_unknown_host_is_one_finding(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "-H", "no-such-host.invalid:1", "--quiet", "--only", "names"]) == 1
    said = capsys.readouterr().out
    assert "no-such-host.invalid does not resolve here" in said and "/etc/hosts" in said


def doctor(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hvdkit", "doctor", *arguments],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_environment_of_these_tests_is_healthy() -> None:
    done = doctor("--quiet")
    assert (done.returncode, done.stdout) == (0, ""), done.stdout


def test_colour_is_for_terminals_only() -> None:
    assert "\x1b" not in doctor("--only", "python,shm", NO_COLOR="1").stdout


def test_a_horovod_that_does_not_load_is_found(tmp_path: Path) -> None:
    (tmp_path / "horovod").mkdir()
    (tmp_path / "horovod" / "__init__.py").write_text("raise ImportError('broken on purpose')")
    done = doctor("--quiet", PYTHONPATH=f"{tmp_path}:{Path.cwd()}")
    assert done.returncode == 1
    assert "broken on purpose" in done.stdout and "hvdkit install-horovod --rebuild" in done.stdout


def test_a_framework_that_imports_slowly_is_not_called_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hvdkit.examination.probe.TIMEOUT_S", 0.01)
    facts = {"": gather([CHECKS["horovod"]], Request())}
    found = judge([CHECKS["torch"], CHECKS["horovod"]], facts, {"": Request()})
    assert [each.level for each in found] == [Level.UNKNOWN]
    assert "takes longer than" in found[0].seen
