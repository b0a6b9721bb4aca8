"""How long small commands take beside pyupgrade on a small file: the ratio, pair by pair, in one run.

    pip install pyupgrade && python benchmarks/startup.py

Both start the same Python, in turn, their bytecode cached; a machine's noise hits both alike. CPU time is the
process's, user and system: the better of the two measures on a busy machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

SMALL = """\
import torch

print(torch.nn.Linear(2, 1)(torch.ones(2)))
"""
TRAINING = """\
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.utils.data.DataLoader(torch.ones(8, 2), batch_size=2):
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
torch.save(model.state_dict(), "model.pt")
"""
# What hvdkit is asked, the file that pyupgrade is given (None: --help), and the goal for the ratio, if any.
PAIRS = (
    (("--help",), None, 0.4),
    (("rules",), "small.py", 1.2),
    (("explain", "HVD404"), "small.py", 1.2),
    (("migrate", "small.py"), "small.py", 2.5),
    (("migrate", "training.py"), "training.py", None),
)


def seconds(*command: str) -> tuple[float, float]:
    """Wall time and CPU time of one `python -m command`, in seconds."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
        check=False,
    )
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    failed = done.returncode not in (0, 1) or b"Traceback" in done.stderr  # Python's own code for it is 1
    assert not failed, f"{command} ended with {done.returncode}: {done.stderr.decode()}"
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Print the ratios; 1 when a median of CPU times is over its goal."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=25)
    pairs = parser.parse_args().pairs
    if find_spec("pyupgrade") is None:
        print("pyupgrade is not installed: pip install pyupgrade", file=sys.stderr)
        return 2
    over = False
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("small.py").write_text(SMALL, encoding="utf-8")
        Path("training.py").write_text(TRAINING, encoding="utf-8")
        for asked, file, goal in PAIRS:
            ours, theirs = ("hvdkit", *asked), ("pyupgrade", file or "--help")
            for command in (ours, theirs):
                seconds(*command)  # both from a warm file cache, their bytecode written
            timed = [(seconds(*ours), seconds(*theirs)) for _ in range(pairs)]
            wall, cpu = (sorted(our[i] / their[i] for our, their in timed) for i in range(2))
            median = statistics.median(cpu)
            over |= goal is not None and median > goal
            print(
                f"{' '.join(ours)} / {' '.join(theirs)}: CPU median {median:.2f} (min {cpu[0]:.2f}, "
                f"max {cpu[-1]:.2f}), wall median {statistics.median(wall):.2f}"
                + (f"; goal: at most {goal}" if goal else "")
            )
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
