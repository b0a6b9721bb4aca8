"""Each fault is made for real on one of two hosts: the doctor finds it, and no rank starts into it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .faults import FAULTS, PROXY, Fault, output_of
from .hosts import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]

HOSTS = ("-H", "a:2,b:2")


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A pair whose faults are taken back after each test."""
    with Cluster(tmp_path_factory.mktemp("broken")) as hosts:
        (hosts.directory / "train.py").write_text(
            "import pathlib, socket\npathlib.Path(f'started-{socket.gethostname()}').touch()\n"
        )
        yield hosts


def doctor(cluster: Cluster, *options: str, env: dict[str, str] | None = None) -> tuple[int, dict[str, Any]]:
    command = ["python", "-m", "hvdkit", "doctor", *HOSTS, "--script", "train.py", "--json", *options]
    done = cluster.run("a", command, env=env, timeout=800, check=False)
    assert done.returncode in (0, 1), output_of(done)
    return done.returncode, json.loads(done.stdout)


def counting(report: dict[str, Any]) -> list[dict[str, str]]:
    return [each for each in report["findings"] if each["level"] not in ("ok", "note")]


def started(folder: Path) -> list[str]:
    found = sorted(folder.glob("started-*"))
    for file in found:
        file.unlink()
    return [file.name for file in found]


def test_nothing_is_found_on_a_healthy_pair(broken: Cluster) -> None:
    code, report = doctor(broken)
    assert (code, counting(report)) == (0, [])
    assert report["hosts"] == ["a", "b"]
    looked_at = {(each["check"], each["host"]) for each in report["findings"]}
    for check in ("ssh", "python", "torch", "horovod", "script", "names", "reach", "clocks"):
        assert {(check, "a"), (check, "b")} <= looked_at


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name: str, broken: Cluster) -> None:
    fault = FAULTS[name]
    folder = broken.directory
    with fault.make(broken, folder):
        code, report = doctor(broken, *fault.options, env=fault.env)
        command = ["python", "-m", "hvdkit", "run", *HOSTS, *fault.options, "--gloo", "python", "train.py"]
        run = broken.run("a", command, env=fault.env, timeout=800, check=False)
    found = [each for each in counting(report) if each["check"] == fault.check]
    assert code == 1, report["findings"]
    assert any(fault.fix in each["fix"] and each["why"] for each in found), counting(report)
    assert fault.check in run.stderr and fault.fix in run.stderr, output_of(run)
    if fault.stops:
        assert run.returncode == 2, output_of(run)
        assert "no rank was started" in run.stderr
        assert started(folder) == []
    else:
        assert run.returncode == 0, output_of(run)
        assert len(started(folder)) == 2
    assert PROXY["http_proxy"] not in output_of(run), "a password was printed"


def test_everything_was_mended(broken: Cluster) -> None:
    """What a fault's test leaves behind would be found here."""
    assert counting(doctor(broken)[1]) == []


def test_hvdkit_missing_on_a_host_is_said_so(broken: Cluster) -> None:
    fault = Fault(FAULTS["small /dev/shm"].make, "ssh", "pip install hvdkit")
    hidden = Path(__file__).parents[2] / "hvdkit"
    empty = broken.directory / "empty"
    empty.mkdir(exist_ok=True)
    broken.run("b", ["mount", "--bind", empty, hidden])
    try:
        _, report = doctor(broken)
    finally:
        broken.run("b", ["umount", hidden])
    (found,) = counting(report)
    assert fault.fix in found["fix"] and found["host"] == "b"


def test_launched_from_a_third_machine(tmp_path: Path) -> None:
    with Cluster(tmp_path / "three", names=("a", "b", "c")) as cluster:
        command = ["python", "-m", "hvdkit", "doctor", *HOSTS, "--json"]
        report = json.loads(cluster.run("c", command, timeout=800, check=False).stdout)
        assert counting(report) == []
        assert report["hosts"] == ["a", "b", "this machine"]
        run = ["python", "-m", "hvdkit", "run", *HOSTS, "--gloo", "python", "-c", "print('here')"]
        done = cluster.run("c", run, timeout=800)
        assert sorted(done.stdout.splitlines()) == [f"[{rank}] here" for rank in range(4)]
