"""How long `hvdkit --help` takes beside `pyupgrade --help`: the ratio, pair by pair, in one run.

    pip install pyupgrade && python benchmarks/startup.py

Both start the same Python, in turn; a machine's noise hits both alike. Goal: a median ratio of at most 1.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from importlib.util import find_spec


def seconds(module: str) -> float:
    """Wall time of one `python -m module --help`, in seconds."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", module, "--help"], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def main() -> int:
    """Print the ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=25)
    pairs = parser.parse_args().pairs
    if find_spec("pyupgrade") is None:
        print("pyupgrade is not installed: pip install pyupgrade", file=sys.stderr)
        return 2
    for module in ("hvdkit", "pyupgrade"):
        seconds(module)  # both from a warm file cache
    ratios = sorted(seconds("hvdkit") / seconds("pyupgrade") for _ in range(pairs))
    print(f"hvdkit --help / pyupgrade --help over {pairs} pairs: ", end="")
    print(f"median {statistics.median(ratios):.2f}, min {ratios[0]:.2f}, max {ratios[-1]:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
