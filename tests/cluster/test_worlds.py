"""Programs of torchrun on two hosts, unchanged by `hvdkit run --torch`, train what torchrun trains."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from .hosts import Cluster
from .test_launch import on_each
from .test_run import assert_no_process_left

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(3600)]

WORLDS = Path(__file__).parent / "worlds"
ROOT = Path(__file__).parents[2]
RUN = ("python", "-m", "hvdkit", "run", "--torch", "-np", "4")
EPOCH = re.compile(r"epoch \d of 4 ranks: \w+ [\d.]+")
# Without what torch brings: another torch than the one of .venv would come with them.
PACKAGES = (
    *("accelerate==1.15.0", "huggingface_hub==2.4.0", "safetensors==0.8.0", "pyyaml==6.0.4", "tqdm==4.70.1"),
    *("lightning==2.6.6", "pytorch-lightning==2.6.6", "lightning-utilities==0.15.3", "torchmetrics==1.9.0"),
)


@pytest.fixture(scope="module")
def frameworks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Accelerate and Lightning, for PYTHONPATH."""
    folder = tmp_path_factory.mktemp("frameworks")
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder, *PACKAGES]
    subprocess.run(command, check=True, timeout=1500)
    return folder


def epochs(text: str) -> list[str]:
    found = list(dict.fromkeys(EPOCH.findall(text)))  # Accelerate prints on each host
    assert len(found) == 3, text
    return found


@pytest.mark.parametrize("name", ["fsdp", "accelerated", "lightning_module"])
def test_it_trains_what_torchrun_trains(pair: Cluster, frameworks: Path, tmp_path: Path, name: str) -> None:
    script = WORLDS / f"{name}.py"
    env = {"PYTHONPATH": f"{ROOT}:{frameworks}"}

    def torchrun(node: int) -> list[str | Path]:
        hosts = ["--nnodes", "2", "--node_rank", str(node), "--master_addr", "a", "--master_port", "29500"]
        return [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", *hosts, script]

    first, _ = on_each(pair, [torchrun(0), torchrun(1)], [{**env, "GLOO_SOCKET_IFNAME": "eth0"}] * 2)
    by_torchrun = epochs(first.stdout)

    nodes = tmp_path / "nodes.toml"
    nodes.write_text('gpus_per_node = 2\nnodes = [{addr = "a"}, {addr = "b"}]\n')
    hosts = ["--nodes", str(nodes)] if name == "accelerated" else ["-H", "a:2,b:2"]
    done = pair.run("a", [*RUN, *hosts, "python", script], env, timeout=1500)
    assert epochs(done.stdout) == by_torchrun
    assert_no_process_left(pair)


FAILS = """\
import os, torch
import torch.distributed as dist
dist.init_process_group("gloo")
for step in range(1000):
    if step == 3 and dist.get_rank() == 2:
        raise ValueError("boom")
    dist.all_reduce(torch.ones(1))
"""


def test_the_rank_that_fails_is_named(pair: Cluster, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(FAILS)
    done = pair.run("a", [*RUN, "-H", "a:2,b:2", "python", script], timeout=1500, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-2:] == [
        "[rank2]: ValueError: boom",
        "hvdkit: rank 2 on b failed first: exit code 1",
    ]
    assert_no_process_left(pair)


TF_CONFIG = """\
import json, os
config = json.loads(os.environ["TF_CONFIG"])
workers = [worker.rpartition(":")[0] for worker in config["cluster"]["worker"]]
print(config["task"]["type"], config["task"]["index"], workers, os.environ.get("CUDA_VISIBLE_DEVICES"))
"""


def test_tensorflow_workers_know_each_other(pair: Cluster, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(TF_CONFIG)
    command = ["python", "-m", "hvdkit", "run", "--tensorflow", "-H", "a:1,b:2", "python", script]
    done = pair.run("a", command, timeout=1500)
    addresses = [pair.address("a"), pair.address("b"), pair.address("b")]
    devices = [None, "0", "1"]
    assert sorted(done.stdout.splitlines()) == [
        f"[{rank}] worker {rank} {addresses} {device}" for rank, device in enumerate(devices)
    ]
