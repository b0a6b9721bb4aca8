"""A node list on one machine: the one-node case, its faults, and the lists that do not fit."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from ports import free_port

pytestmark = pytest.mark.launch

ROOT = Path(__file__).parents[2]
# A rank without a framework: it says what it was given, and then does what the test asks for. Ranks share an
# unbuffered pipe, where print() writes a text and the end of its line one after the other: `say` writes once.
RANK = """
import os, signal, sys, time
import hvdkit
hvdkit.cluster({nodes!r}, gpus_per_node=2, ctrl_port={port})
def say(text):
    sys.stdout.write(text + "\\n")
if len(sys.argv) > 1:
    exec(sys.argv[1])
say(" ".join(os.environ["HOROVOD_" + name] for name in ("RANK", "SIZE", "LOCAL_RANK", "GLOO_IFACE")))
"""
HERE = [{"addr": "127.0.0.1"}]


def script(folder: Path, nodes: object = HERE, port: int = 0) -> Path:
    file = folder / "train.py"
    file.write_text(RANK.format(nodes=nodes, port=port))
    return file


def start(file: Path, *arguments: str, **environ: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(file), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environ},
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    stdout, stderr = process.communicate(timeout=300)
    return process.returncode, stdout, stderr


def test_one_machine_with_two_devices(tmp_path: Path) -> None:
    code, stdout, stderr = ended(start(script(tmp_path)))
    assert (code, sorted(stdout.splitlines())) == (0, ["0 2 0 lo", "1 2 1 lo"]), stderr
    assert stderr == ""


def test_a_rank_that_dies_ends_the_others(tmp_path: Path) -> None:
    fault = "os.environ['HOROVOD_RANK'] == '1' and os.kill(os.getpid(), signal.SIGKILL); time.sleep(600)"
    code, stdout, stderr = ended(start(script(tmp_path), fault))
    assert (code, stdout) == (1, "")
    assert f"hvdkit: rank 1 on {socket.gethostname()} (127.0.0.1) was killed by SIGKILL" in stderr


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_ends_all_ranks(number: signal.Signals, code: int, tmp_path: Path) -> None:
    job = start(script(tmp_path), "say('up'); time.sleep(600)")
    assert job.stdout is not None
    assert [job.stdout.readline(), job.stdout.readline()] == ["up\n", "up\n"]
    ranks = psutil.Process(job.pid).children()
    job.send_signal(number)
    assert ended(job)[0] == code
    assert not any(rank.is_running() for rank in ranks)


def test_what_is_told_to_ignore_hangups_ignores_them(tmp_path: Path) -> None:
    command = f"trap '' HUP; exec {sys.executable} {script(tmp_path)} \"say('up'); time.sleep(5)\""
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    job = subprocess.Popen(["bash", "-c", command], stdout=subprocess.PIPE, text=True, env=environ)
    assert job.stdout is not None
    job.stdout.readline()
    job.send_signal(signal.SIGHUP)
    assert job.wait(timeout=300) == 0
    job.stdout.close()


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        code, _, stderr = ended(start(script(tmp_path, port=port)))
    assert code == 2
    assert f"hvdkit: the control port 127.0.0.1:{port} is in use on this host" in stderr
    assert "ctrl_port" in stderr


def test_a_node_that_never_comes_is_named_within_the_bound(tmp_path: Path) -> None:
    nodes = [*HERE, {"addr": "192.0.2.1"}]
    began = time.monotonic()
    job = start(script(tmp_path, nodes, free_port()), HVDKIT_START_TIMEOUT="4")
    code, _, stderr = ended(job)
    assert (code, time.monotonic() - began < 60) == (2, True)
    assert "hvdkit: waiting for node 1 (192.0.2.1, ranks 2 to 3)" in stderr
    assert "hvdkit: node 1 (192.0.2.1, ranks 2 to 3) did not connect within 4 s" in stderr


@pytest.mark.parametrize(
    ("nodes", "environ", "seen"),
    [
        ([{"addr": "192.0.2.1"}], {}, "hvdkit: no node of the list is "),
        ([*HERE, {"addr": "127.0.0.1"}], {}, "hvdkit: hvdkit.cluster: 127.0.0.1 is listed twice"),
        ([*HERE, {"addr": "localhost"}], {}, "hvdkit: more than one node of the list is "),
        (
            [{"addr": "no.such.host.invalid"}],
            {},
            "hvdkit: no.such.host.invalid, a node of the list, cannot be",
        ),
        ([{"addr": "a; rm -rf /"}], {}, "hvdkit: hvdkit.cluster: 'a; rm -rf /' is not a host name"),
        ([{"address": "a"}], {}, "hvdkit: hvdkit.cluster: 'address' is not a setting of a node"),
        ([{}], {}, "hvdkit: hvdkit.cluster does not contain a node list"),
        (3, {}, "hvdkit: hvdkit.cluster does not contain a node list"),
        ("no.toml", {}, "hvdkit: no.toml: No such file"),
        ([{"addr": "::1"}], {}, "hvdkit: hvdkit.cluster: ::1 is an IPv6 address"),
        ([*HERE, {"addr": "192.0.2.1"}], {"HVDKIT_SECRET": "short"}, "has 5 characters"),
        (HERE, {"RANK": "0", "WORLD_SIZE": "2"}, "started 2 processes; the node list has 1 nodes"),
        (HERE, {"HVDKIT_START_TIMEOUT": "soon"}, "HVDKIT_START_TIMEOUT='soon' is not an integer"),
        (HERE, {"HVDKIT_START_TIMEOUT": "0"}, "HVDKIT_START_TIMEOUT=0 leaves no time"),
    ],
)
def test_lists_that_do_not_fit_are_refused(
    nodes: object, environ: dict[str, str], seen: str, tmp_path: Path
) -> None:
    code, stdout, stderr = ended(start(script(tmp_path, nodes), **environ))
    assert (code, stdout) == (2, "")
    assert seen in stderr and "Traceback" not in stderr


def test_under_horovodrun_nothing_is_done(tmp_path: Path) -> None:
    given = {
        "HOROVOD_RANK": "5",
        "HOROVOD_SIZE": "6",
        "HOROVOD_LOCAL_RANK": "1",
        "HOROVOD_GLOO_IFACE": "eth0",
    }
    needed = {f"HOROVOD_{name}": "1" for name in ("LOCAL_SIZE", "CROSS_RANK", "CROSS_SIZE")}
    meeting = {"HOROVOD_GLOO_RENDEZVOUS_ADDR": "a", "HOROVOD_GLOO_RENDEZVOUS_PORT": "1"}
    code, stdout, stderr = ended(start(script(tmp_path), **given, **needed, **meeting))
    assert (code, stdout) == (0, "5 6 1 eth0\n"), stderr
