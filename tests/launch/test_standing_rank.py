"""Ranks that live and make no progress are named within 30 s, with their lines, in every way of a launch."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hvdkit.sync import stack
from hvdkit.sync.stack import Frame

HOROVOD = """\
import time, torch
import horovod.torch as hvd
hvd.init()
model = torch.nn.Linear(4, 1)
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
def load(step):
    if step == 3 and hvd.rank() == 1:
        print("standing", flush=True)
        time.sleep(600)
    return torch.ones(2, 4)
for step in range(9):
    optimizer.zero_grad()
    model(load(step)).sum().backward()
    optimizer.step()
"""
# The same of DDP, whose ranks wait inside backward(), or in a collective of the script's own.
TORCH = """\
import time, torch
import torch.distributed as dist
dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def load(step):
    if step == 3 and dist.get_rank() == 1:
        print("standing", flush=True)
        time.sleep(600)
    return torch.ones(2, 4)
for step in range(9):
    optimizer.zero_grad()
    model(load(step)).sum().backward()
    optimizer.step()
"""


# Rank 1 takes a branch, and rank 0 its next step.
BRANCH = """\
import time, torch
import horovod.torch as hvd
hvd.init()
model = torch.nn.Linear(4, 1)
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
for step in range(9):
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    if step == 3 and hvd.rank() == 1:
        print("standing", flush=True)
        hvd.allreduce(torch.ones(1), name="worst")
"""


@pytest.mark.launch
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("options", "script"), [(["--gloo"], HOROVOD), (["--mpi"], HOROVOD), (["--torch"], TORCH)]
)
def test_it_is_named_with_its_line(tmp_path: Path, options: list[str], script: str) -> None:
    text = said_in_time(tmp_path, options, script, ", in load, for ")
    line = script.splitlines().index("        time.sleep(600)") + 1
    assert "rank 0 waited 20 s in step 4 for rank 1, which took 3 and did not start it\n" in text
    assert f"  rank 1 on {os.uname().nodename}: {tmp_path}/train.py:{line}, in load, for " in text


@pytest.mark.launch
@pytest.mark.timeout(1200)
def test_ranks_that_wait_for_each_other_are_named_with_their_lines(tmp_path: Path) -> None:
    text = said_in_time(tmp_path, ["--gloo"], BRANCH, "  rank 1 on ")
    assert "ranks 0, 1 waited 20 s for each other, in different calls\n" in text
    for rank, call in enumerate(
        ("    optimizer.step()", '        hvd.allreduce(torch.ones(1), name="worst")')
    ):
        line = BRANCH.splitlines().index(call) + 1
        assert (
            f"  rank {rank} on {os.uname().nodename}: {tmp_path}/train.py:{line}, in <module>, for " in text
        )


def said_in_time(folder: Path, options: list[str], script: str, words: str) -> str:
    """What a job of two ranks says on standard error until these words, and for how long it says none."""
    path = folder / "train.py"
    path.write_text(script)
    job = subprocess.Popen(
        [sys.executable, "-m", "hvdkit", "run", "-np", "2", *options, "python", str(path)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert job.stdout is not None and job.stderr is not None
    said: list[tuple[float, str]] = []

    def listen() -> None:
        assert job.stderr is not None
        said.extend((time.monotonic(), line) for line in job.stderr)

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    try:
        assert job.stdout.readline() == "[1] standing\n", said
        began = time.monotonic()
        while not any(words in line for _, line in said):
            assert time.monotonic() < began + 120, said
            time.sleep(0.1)
    finally:
        job.send_signal(signal.SIGINT)
        job.wait(120)
        thread.join(60)
    when = next(at for at, line in said if words in line)
    assert when < began + 30 + 5  # the bound of docs/run.md, and what a busy machine adds
    return "".join(line for _, line in said)


LISTENS = """\
import sys, time
from pathlib import Path
from hvdkit.sync.stack import listen
listen(Path(sys.argv[1]))
def wait():
    print("up", flush=True)
    time.sleep(600)
wait()
"""


def test_a_process_that_listens_answers_and_lives(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", LISTENS, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "up\n"
        stands = [Frame("<string>", 7, "wait"), Frame("<string>", 8, "<module>")]
        end = time.monotonic() + 60
        while stack.ask(tmp_path, process.pid) != stands:  # it may not have come to its sleep yet
            assert time.monotonic() < end
        assert stack.ask(tmp_path, process.pid) == stands
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
    assert stack.ask(tmp_path, process.pid) == []


def test_one_that_does_not_is_left_alone(tmp_path: Path) -> None:
    assert stack.ask(tmp_path, os.getpid()) == []


@pytest.mark.parametrize(
    ("frames", "waits"),
    [
        ([("/v/site-packages/horovod/torch/mpi_ops.py", "synchronize"), ("/me/train.py", "main")], True),
        ([("/v/site-packages/torch/autograd/graph.py", "_engine_run_backward")], True),
        ([("/v/site-packages/torch/nn/modules/linear.py", "forward"), ("/me/train.py", "main")], False),
        ([("/me/net.py", "forward"), ("/v/site-packages/torch/distributed/fsdp/x.py", "forward")], False),
        ([("/usr/lib/python3.11/threading.py", "wait"), ("/me/train.py", "main")], False),
    ],
)
def test_what_waits_for_other_ranks(frames: list[tuple[str, str]], waits: bool) -> None:
    assert stack.waits([Frame(file, 1, function) for file, function in frames]) is waits
