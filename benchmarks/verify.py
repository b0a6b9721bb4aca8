"""How long `hvdkit verify` takes for the MNIST pair, beside the two scripts run alone, in one run.

    python benchmarks/verify.py

Alone: `torchrun train_ddp.py` and then `horovodrun train_ddp_horovod.py`, 2 ranks, one epoch. Verified: the
same pair to its default of 5 steps, and through every step of the epoch. All in turn, so that a machine's
noise hits each alike. Goal: a median ratio below 3. Exit code 1 when it is missed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
MNIST = ROOT / "examples" / "mnist"
# The package, and what lets an original end in peace; the pause of 0.2 s is in all that is timed.
PYTHONPATH = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "originals")])
BIN = Path(sys.executable).parent
ORIGINAL, MIGRATED = str(MNIST / "train_ddp.py"), str(MNIST / "train_ddp_horovod.py")
SCRIPT_ARGUMENTS = ["--epochs", "1"]
EVERY_STEP = 1000  # more than an epoch has
GOAL = 3.0


def seconds(*command: str) -> float:
    """Wall time of a command in a folder of its own, in seconds. Ends with its output when it fails."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        done = subprocess.run(
            command,
            cwd=folder,
            # As verify runs them: one thread for each rank.
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": PYTHONPATH},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"{done.stdout}exit code {done.returncode} of: {' '.join(command)}")
        return time.perf_counter() - began


def alone() -> float:
    """Both scripts, one after the other."""
    launchers = (
        [str(BIN / "torchrun"), "--nproc-per-node", "2", ORIGINAL],
        [str(BIN / "horovodrun"), "-np", "2", "--gloo", sys.executable, MIGRATED],
    )
    return sum(seconds(*launcher, *SCRIPT_ARGUMENTS) for launcher in launchers)


def verified(steps: int) -> float:
    """The same pair compared."""
    verify = [sys.executable, "-m", "hvdkit", "verify", ORIGINAL, MIGRATED, "--steps", str(steps)]
    return seconds(*verify, "--", *SCRIPT_ARGUMENTS)


def main() -> int:
    """Print the ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    alone()  # the file cache is warm for all
    ratios: dict[str, list[float]] = {"5 steps": [], "every step": []}
    for _ in range(rounds):
        both = alone()
        ratios["5 steps"].append(verified(5) / both)
        ratios["every step"].append(verified(EVERY_STEP) / both)
    for what, found in ratios.items():
        print(f"verify, {what}, / both scripts alone, over {rounds} rounds: ", end="")
        print(f"median {statistics.median(found):.2f}, min {min(found):.2f}, max {max(found):.2f}")
    return int(any(statistics.median(found) >= GOAL for found in ratios.values()))


if __name__ == "__main__":
    sys.exit(main())
