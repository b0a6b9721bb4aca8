"""Before hvd.init() the helpers say so. In a process of its own: other tests have called init() here."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import torch
import hvdkit.torch as hvd
from hvdkit.torch.guards import NotInitializedError

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for call in (
    lambda: hvd.DistributedOptimizer(optimizer, model),
    lambda: hvd.broadcast(model, optimizer),
    lambda: hvd.check_sync(model),
):
    try:
        call()
    except NotInitializedError as error:
        print(error.fix)
"""


def test_everything_asks_for_init() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], check=True, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert all("hvd.init()" in line for line in lines)
