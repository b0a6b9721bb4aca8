"""What `hvdkit doctor` costs beside what cannot be avoided: ratios, pair by pair, in one run.

    python benchmarks/doctor.py                      this machine: beside importing the frameworks
    python benchmarks/doctor.py -H a:2,b:2           two hosts: beside the start of a job by horovodrun

Goals: on one machine at most 3 s more than importing the frameworks does; on two hosts no slower than
horovodrun takes to start ranks that import Horovod, call init() and end.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

FRAMEWORKS = [name for name in ("torch", "tensorflow") if find_spec(name)]
IMPORT = [sys.executable, "-c", "; ".join(f"import horovod.{name}" for name in FRAMEWORKS)]
INIT = [sys.executable, "-c", f"import horovod.{FRAMEWORKS[0]} as hvd; hvd.init()"]


def seconds(command: list[str]) -> float:
    """Wall time of one run, in seconds. Raises: CalledProcessError if it fails."""
    began = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def main() -> int:
    """Print the ratios; exit code 1 if a goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-H", "--hosts", metavar="A:2,B:2")
    parser.add_argument("--pairs", type=int, default=5)
    asked = parser.parse_args()
    doctor = [sys.executable, "-m", "hvdkit", "doctor"]
    other = IMPORT
    if asked.hosts:
        doctor += ["-H", asked.hosts]
        ranks = sum(int(host.partition(":")[2]) for host in asked.hosts.split(","))
        launcher = Path(sys.executable).with_name("horovodrun")
        start = ["-np", str(ranks), "-H", asked.hosts, "--disable-cache", "--gloo"]
        other = [str(launcher), *start, *INIT]
    for command in (doctor, other):
        seconds(command)  # both from a warm file cache
    pairs = [(seconds(doctor), seconds(other)) for _ in range(asked.pairs)]
    ratios = sorted(ours / theirs for ours, theirs in pairs)
    more = statistics.median(ours - theirs for ours, theirs in pairs)
    title = "horovodrun's start" if asked.hosts else "importing the frameworks"
    print(
        f"hvdkit doctor / {title} over {len(pairs)} pairs: median {statistics.median(ratios):.2f}, ", end=""
    )
    print(f"min {ratios[0]:.2f}, max {ratios[-1]:.2f}")
    held = statistics.median(ratios) <= 1 if asked.hosts else more <= 3.0
    print("goal: " + ("held" if held else "missed"))
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
