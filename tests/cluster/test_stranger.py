"""A third host that belongs to no job attacks the control port of one on two others: the job trains on."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from hvdkit.bootstrap.cluster import CONTROL_PORT
from hvdkit.bootstrap.link import Job
from hvdkit.bootstrap.secret import Secret
from hvdkit.hosts.lists import read_nodes

from .hosts import Cluster

pytestmark = pytest.mark.cluster

FOLDER = Path(__file__).parent
# Ranks that add up numbers until the file `over` is there, and say when they begin.
TRAIN = """
import sys, time
from pathlib import Path
import torch, hvdkit.torch as hvd
hvd.init()
over, steps = Path(sys.argv[1]), 0
while True:
    ended = torch.tensor([float(over.exists())])
    total = hvd.allreduce(torch.tensor([hvd.rank() + 1.0]), op=hvd.Sum)
    assert total.item() == 3.0, total
    if steps == 0 and hvd.rank() == 0:
        print("trains", flush=True)
    steps += 1
    if hvd.allreduce(ended, op=hvd.Max).item():
        break
    time.sleep(0.05)
hvd.shutdown()
print("done", flush=True)
"""
SECRET = {"HVDKIT_SECRET": "what only the nodes of this job know"}


@dataclass
class Attacked:
    """A job on hosts a and b of three, and the stranger on c."""

    cluster: Cluster
    folder: Path
    secret: Mapping[str, str]

    def __post_init__(self) -> None:
        self.nodes = self.folder / "hvdkit.toml"
        self.nodes.write_text('nodes = [{addr = "a"}, {addr = "b"}]\n')
        self.script = self.folder / "train.py"
        self.script.write_text(TRAIN)
        self.started: list[subprocess.Popen[str]] = []

    def start(self, host: str) -> None:
        environ = {"HVDKIT_NODES": str(self.nodes), "HVDKIT_START_TIMEOUT": "400", **self.secret}
        command = [sys.executable, self.script, self.folder / "over"]
        self.started.append(self.cluster.start(host, command, environ))

    def trains(self) -> None:
        """Wait until it does."""
        assert self.started[0].stdout is not None
        line = self.started[0].stdout.readline()
        assert line == "trains\n", [line, *(process.communicate() for process in self.started)]

    def attack(self, how: str, *more: Path) -> list[str]:
        """Let the stranger act, and give what it was answered."""
        hosts = read_nodes(self.nodes)
        job = Job(hosts, 0, ("10.77.0.1",), CONTROL_PORT, 1, Secret()).name
        command = [sys.executable, FOLDER / "stranger.py", how, "10.77.0.1", str(CONTROL_PORT), job, *more]
        return list(json.loads(self.cluster.run("c", command, timeout=300).stdout))

    def wait_for_port(self) -> None:
        listening = f'exec 3<> "/dev/tcp/10.77.0.1/{CONTROL_PORT}"'
        look = f"for _ in {{1..600}}; do {listening} && exit; sleep 0.2; done; exit 1"
        self.cluster.run("c", ["bash", "-c", look], timeout=300)

    def ends_well(self) -> str:
        """The job goes on to its end; gives what node 0 said on standard error."""
        (self.folder / "over").touch()
        ended = [process.communicate(timeout=300) for process in self.started]
        assert [process.returncode for process in self.started] == [0, 0], ended
        assert ended[0][0].endswith("done\n"), ended
        said = ended[0][1]
        assert "Traceback" not in said + ended[1][1]
        return said


@pytest.fixture(params=[SECRET, {}], ids=["with a secret", "without"])
def job(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Attacked]:
    with Cluster(tmp_path / "cluster", ("a", "b", "c")) as cluster:
        yield Attacked(cluster, tmp_path, request.param)


def test_a_stranger_on_the_network_changes_nothing(job: Attacked) -> None:
    job.start("a")
    job.wait_for_port()
    joined = job.attack("join")
    job.start("b")
    job.trains()
    answers = {how: job.attack(how) for how in ("end", "nonsense")}
    recorded = job.folder / "recorded.json"
    listen = [sys.executable, FOLDER / "listener.py", str(CONTROL_PORT), recorded, "5"]
    job.cluster.run("b", listen)
    assert json.loads(recorded.read_text()), "node 1 speaks every second"
    answers["replay"] = job.attack("replay", recorded)
    began = time.monotonic()
    job.attack("flood")
    assert time.monotonic() - began < 200
    said = job.ends_well()

    if job.secret:
        assert all("SecretError: it asks for a secret" in each for each in joined + answers["end"])
        assert "this job has no secret" not in said
    else:
        assert "and asked from 10.77.0.3" in joined[0]
        assert "this job has no secret: every process on 10.77.0.1, 10.77.0.2 that reaches" in said
    assert not any('"go"' in each for each in joined + answers["end"])
    assert not any(" 200 " in each for each in answers["nonsense"] + answers["replay"]), answers
    lines = [line for line in said.splitlines() if "turned away" in line]
    assert lines and len(lines) <= 21
    assert all("10.77.0.3" in line or "more was turned away" in line for line in lines), lines


def test_every_node_ends_when_node_0_finds_its_port_taken(job: Attacked) -> None:
    answer = "h.HTTPServer(('', PORT), h.BaseHTTPRequestHandler).serve_forever()"
    serve = f"import http.server as h; {answer.replace('PORT', str(CONTROL_PORT))}"
    other = job.cluster.start("a", [sys.executable, "-c", serve])
    job.wait_for_port()
    began = time.monotonic()
    job.start("a")
    job.start("b")
    ended = [process.communicate(timeout=300)[1] for process in job.started]
    assert [process.returncode for process in job.started] == [2, 2], ended
    assert time.monotonic() - began < 150, "not the 400 seconds of the start"
    assert f"the control port 10.77.0.1:{CONTROL_PORT} is in use on this host" in ended[0]
    assert f"port {CONTROL_PORT} of node 0 (a, rank 0) is taken" in ended[1]
    other.kill()
