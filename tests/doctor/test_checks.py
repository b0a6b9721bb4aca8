"""What each check says of a fact; the facts of real faults are made in tests/cluster."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from hvdkit.examination.check import Request, Target
from hvdkit.examination.checks import CHECKS
from hvdkit.examination.finding import Finding, Level
from hvdkit.hosts.interfaces import Interface

PEERS = {"b": Target("10.0.0.2", (4000,))}
FITS = {
    "version": "0.28.1",
    "built_against": {"pytorch": "2.13.0"},
    "driver_gpus": 0,
    "tensorflow": None,
    "hidden": {},
}
LOADED = {"mpi": True, "gloo": True, "nccl": False}
TORCH = {"version": "2.13.0", "cuda": None, "gpus": 0, "horovod": LOADED}
WITH_GPU = {"version": "2.13.0", "cuda": "13.0", "gpus": 1, "horovod": {**LOADED, "nccl": True}}


def judge(check: str, fact: Any, **request: Any) -> list[Finding]:
    asked = CHECKS[check].judge
    assert asked is not None
    return list(asked(fact, Request(**{"host": "a", **request})))


def interfaces(*found: tuple[str, str], **variables: str) -> dict[str, Any]:
    listed = [Interface(name, address, f"{address}/24").__dict__ for name, address in found]
    return {"interfaces": listed, "variables": variables}


CASES = [
    ("python", {"version": "3.8.1", "path": "p"}, {}, Level.ERROR, "3.9 or later"),
    ("python", {"version": "3.11.7", "path": "p"}, {}, Level.OK, ""),
    ("torch", {**FITS, "torch": None}, {}, Level.ERROR, "pip install torch"),
    ("torch", {**FITS, "torch": {"error": "`import torch` fails: x"}}, {}, Level.ERROR, "uninstall torch"),
    ("horovod", {**FITS, "torch": TORCH}, {}, Level.OK, ""),
    ("horovod", {**FITS, "torch": TORCH, "version": None}, {}, Level.ERROR, "hvdkit install-horovod"),
    ("horovod", {**FITS, "torch": {**TORCH, "version": "2.14.0"}}, {}, Level.ERROR, "hvdkit install-horovod"),
    ("horovod", {**FITS, "torch": {**TORCH, "horovod": {"error": "x"}}}, {}, Level.ERROR, "--rebuild"),
    ("horovod", {**FITS, "torch": TORCH, "hidden": {"horovod": "/h.py"}}, {}, Level.ERROR, "rename /h.py"),
    ("torch", {**FITS, "torch": TORCH, "hidden": {"torch": "/t.py"}}, {}, Level.ERROR, "rename /t.py"),
    ("operations", {**FITS, "torch": TORCH}, {}, Level.OK, ""),
    ("operations", {**FITS, "torch": {**TORCH, "gpus": 2}}, {}, Level.WARNING, "HOROVOD_GPU_OPERATIONS=NCCL"),
    ("gpus", {**FITS, "torch": TORCH}, {}, Level.OK, ""),
    ("gpus", {**FITS, "torch": TORCH, "driver_gpus": 2}, {}, Level.WARNING, "CUDA build"),
    ("gpus", {**FITS, "torch": WITH_GPU, "driver_gpus": 1}, {"slots": 2}, Level.ERROR, "-H a:1"),
    ("gpus", {**FITS, "torch": WITH_GPU, "driver_gpus": 1}, {"slots": 1}, Level.OK, ""),
    ("mpi", {"version": None, "paths": [], "cuda": None}, {}, None, ""),
    ("mpi", {"version": "v", "paths": ["/a", "/b"], "cuda": None}, {}, Level.WARNING, "keep only one"),
    ("mpi", {"version": "v", "paths": ["/a"], "cuda": True}, {}, Level.OK, ""),
    ("script", None, {"script": __file__}, Level.ERROR, "rsync"),
    ("script", None, {"script": "t.py"}, Level.ERROR, "name a file in "),
    ("shm", None, {}, Level.ERROR, "mount -t tmpfs"),
    ("shm", {"size": 64 << 20, "free": 64 << 20}, {}, Level.ERROR, "--shm-size"),
    ("shm", {"size": 8 << 30, "free": 1 << 20}, {}, Level.ERROR, "ls -l /dev/shm"),
    ("shm", {"size": 8 << 30, "free": 1 << 30}, {}, Level.OK, ""),
    ("limits", {"nofile": 1024, "memlock": 1, "nproc": -1, "infiniband": 0}, {}, Level.OK, ""),
    ("limits", {"nofile": 1024, "memlock": -1, "nproc": -1, "infiniband": 0}, {"ranks": 512},
     Level.WARNING, "ulimit -n"),
    ("limits", {"nofile": -1, "memlock": 65536, "nproc": -1, "infiniband": 1}, {}, Level.WARNING, "memlock"),
    ("limits", {"nofile": -1, "memlock": -1, "nproc": 100, "infiniband": 0}, {}, Level.WARNING, "ulimit -u"),
    ("threads", {"cores": 8, "threads": 0}, {"slots": 4}, Level.WARNING, "OMP_NUM_THREADS=2"),
    ("threads", {"cores": 8, "threads": 4}, {"slots": 4}, Level.WARNING, "OMP_NUM_THREADS=2"),
    ("threads", {"cores": 2, "threads": 1}, {"slots": 4}, Level.OK, ""),
    ("threads", {"cores": 8, "threads": 0}, {"slots": 1}, Level.OK, ""),
    ("variables", {"HOROVOD_X": "Horovod 0.28.1 has no such variable"}, {}, Level.WARNING, "unset HOROVOD_X"),
    ("variables", {}, {}, Level.OK, ""),
    ("proxies", {"set": {"http_proxy": "p"}, "through": ["b"]}, {}, Level.WARNING, "NO_PROXY=b"),
    ("proxies", {"set": {"http_proxy": "p"}, "through": []}, {}, Level.OK, ""),
    ("interfaces", interfaces(("eth0", "10.0.0.1")), {"peers": PEERS}, Level.OK, ""),
    ("interfaces", interfaces(("docker0", "172.17.0.1"), ("eth0", "10.0.0.1")), {}, Level.NOTE, "=eth0"),
    ("interfaces", interfaces(("eth0", "10.0.0.1"), HOROVOD_GLOO_IFACE="ib0"), {}, Level.ERROR, "eth0"),
    ("interfaces", interfaces(("eth0", "10.0.0.1"), NCCL_SOCKET_IFNAME="eth"), {}, Level.OK, ""),
    ("interfaces", interfaces(("eth0", "10.0.0.1"), NCCL_SOCKET_IFNAME="^docker0"), {}, Level.OK, ""),
    ("infiniband", {"active": ["mlx5_0"], "idle": [], "disabled": True}, {}, Level.WARNING, "unset NCCL_IB"),
    ("infiniband", {"active": [], "idle": ["mlx5_0"], "disabled": False}, {}, Level.NOTE, "NCCL_IB_DISABLE"),
    ("infiniband", {"active": ["mlx5_0"], "idle": [], "disabled": False}, {}, Level.OK, ""),
    ("container", {"container": True, "addresses": ["172.17.0.2"]}, {"peers": PEERS}, Level.WARNING, "host"),
    ("container", {"container": True, "addresses": []}, {"peers": PEERS, "interface": "e"}, Level.OK, ""),
    ("port", {"taken": "", "range": [32768, 60999]}, {}, Level.OK, ""),
    ("port", {"taken": "in use", "range": [32768, 60999]}, {"ctrl_port": 99}, Level.ERROR, "sport = :99"),
    ("port", {"taken": "", "range": [50000, 50100]}, {"ranks": 64}, Level.WARNING, "ip_local_port_range"),
    ("leftovers", {"processes": [7, 8], "variables": []}, {}, Level.WARNING, "kill 7 8"),
    ("leftovers", {"processes": [], "variables": ["HOROVOD_RANK"]}, {}, Level.WARNING, "unset HOROVOD_RANK"),
    ("names", {"own": "a", "peers": {"b": "127.0.1.1"}}, {"peers": PEERS}, Level.ERROR, "127.0.1.1"),
    ("clocks", {"offset_s": 60.0, "within_s": 0.1}, {}, Level.WARNING, "set-ntp"),
    ("clocks", {"offset_s": 2.5, "within_s": 1.0}, {}, Level.OK, ""),
]  # fmt: skip


@pytest.mark.parametrize(("check", "fact", "request_", "level", "fix"), CASES)
def test_judged(check: str, fact: Any, request_: dict[str, Any], level: Level | None, fix: str) -> None:
    found = judge(check, fact, **request_)
    expected = [level] if level not in (None, Level.OK) else []
    assert [each.level for each in found if each.level is not Level.OK] == expected
    assert found or level is None
    assert all(fix in each.fix for each in found if each.level is not Level.OK)


COMPARED = [
    ("python", {"version": "3.11.7"}, {"version": "3.11.2"}, 0),
    ("python", {"version": "3.11.7"}, {"version": "3.12.1"}, 1),
    ("hvdkit", "0.1.0", "0.2.0", 1),
    ("operations", {**FITS, "torch": TORCH}, {**FITS, "torch": WITH_GPU}, 1),
    ("mpi", {"version": "4.1.4"}, {"version": None}, 1),
    ("infiniband", {"active": ["x"]}, {"active": []}, 1),
    ("script", "1234", "1234", 0),
    ("script", "1234", "5678", 1),
]


@pytest.mark.parametrize(("check", "a", "b", "count"), COMPARED)
def test_compared(check: str, a: Any, b: Any, count: int) -> None:
    compare = CHECKS[check].compare
    assert compare is not None
    found = list(compare({"a": a, "b": b}, {"a": Request("a"), "b": Request("b")}))
    assert sum(each.level.counts for each in found) == count
    assert all(each.why and each.fix for each in found if each.level.counts)


def test_every_check_is_in_a_file_of_its_own_and_listed() -> None:
    folder = Path(__file__).parents[2] / "hvdkit" / "examination" / "checks"
    files = {file.stem for file in folder.glob("*.py")} - {"__init__"}
    assert len(files) == len(CHECKS)
    for check in CHECKS.values():
        assert check.judge or check.compare
        assert CHECKS[check.source].gather is not None


def test_what_runs_on_a_host_needs_only_pythons_own_library() -> None:
    """A host that lacks a package is to be told so, by a doctor that does not need it."""
    root = Path(__file__).parents[2] / "hvdkit"
    own = [*(root / "examination" / "checks").glob("*.py")]
    own += [root / "examination" / f"{name}.py" for name in ("agent", "gather", "check", "finding", "probe")]
    own += [root / "hosts" / f"{name}.py" for name in ("interfaces", "ssh")]
    for file in own:
        for node in ast.walk(ast.parse(file.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            outside = {"rich", "psutil", "tomli", "torch", "tensorflow", "horovod", "yaml", "mpi4py"}
            assert not {name.partition(".")[0] for name in names} & outside, file
