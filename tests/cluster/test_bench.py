"""hvdkit bench on two hosts: Horovod and DDP on the same ones, and what each host's rank did."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from .hosts import Cluster

pytestmark = pytest.mark.cluster

BENCH = (sys.executable, "-m", "hvdkit", "bench", "mlp", "-H", "a:1,b:1", "--blocks", "1", "--steps", "5")
SECONDS = 1500


def test_a_model_next_to_ddp_on_two_hosts(pair: Cluster, tmp_path: Path) -> None:
    done = pair.run("a", [*BENCH, "--json"], cwd=tmp_path, timeout=SECONDS)
    found = json.loads(done.stdout)
    assert found["hosts"] == ["a", "b"]
    assert {*found["kinds"]} == {"horovod", "ddp", "one"}
    assert all(kind["step"] > 0 for kind in found["kinds"].values())
    assert 0 < found["ddp"]["low"] <= found["ddp"]["middle"] <= found["ddp"]["high"]
    assert found["bandwidth"] > 0
