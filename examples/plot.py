"""Draw what training commands print, over wall time: one line a command, one panel a quantity.

    python ../plot.py "torchrun --nproc_per_node 2 train_ddp.py" \\
        "horovodrun -np 2 -H localhost:2 python train_ddp_horovod.py"

The commands run one after the other, so that none takes time from another. Whatever they print as words and
a number with a point ("loss 0.412", "mIoU 81.3%") becomes a point at the moment when it was printed. Wall
time is counted in lengths of the first command, start-up included. Needs matplotlib: pip install matplotlib.
"""

import argparse
import re
import shlex
import subprocess
import time
from collections import defaultdict
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

QUANTITY = re.compile(r"([A-Za-z][A-Za-z-]*(?: [A-Za-z-]+)*) (-?\d+\.\d+)")


def run(command):
    """Run a command, showing its output: ({quantity: [(seconds, value), ...]}, seconds in all)."""
    points = defaultdict(list)
    began = time.monotonic()
    print(f"$ {command}", flush=True)
    with subprocess.Popen(shlex.split(command), stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            for name, value in QUANTITY.findall(line):
                points[name].append((time.monotonic() - began, float(value)))
    if process.returncode:
        raise SystemExit(f"plot.py: exit code {process.returncode} of: {command}")
    return points, time.monotonic() - began


def draw(runs, unit, path):
    """runs: {label: points}. A quantity with fewer than two points in some run is no curve."""
    names = [
        n for n in next(iter(runs.values())) if all(len(points.get(n, ())) > 1 for points in runs.values())
    ]
    if not names:
        raise SystemExit("plot.py: no quantity was printed twice by every command")
    figure, axes = pyplot.subplots(
        1, len(names), figsize=(5 * len(names), 3.5), squeeze=False, layout="constrained"
    )
    for name, panel in zip(names, axes[0]):
        for label, points in runs.items():
            seconds, values = zip(*points[name])
            panel.plot([s / unit for s in seconds], values, marker=".", label=label, alpha=0.8)
        panel.set(title=name, xlabel="wall time (the first command's whole = 1)")
        panel.grid(alpha=0.3)
    axes[0][0].legend()
    figure.savefig(path, dpi=110)
    print(f"wrote {path}: {', '.join(names)}")


def label_of(command):
    """The script's name, which tells the commands of one folder apart."""
    return next(word for word in shlex.split(command) if word.endswith(".py"))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commands", nargs="+", metavar="COMMAND")
    parser.add_argument("--output", type=Path, default=Path("curves.png"))
    args = parser.parse_args()
    done = {label_of(command): run(command) for command in args.commands}
    seconds = [whole for _, whole in done.values()]
    draw({label: points for label, (points, _) in done.items()}, seconds[0], args.output)
    for label, whole in zip(done, seconds):
        print(f"{label}: {whole / seconds[0]:.2f} of the first command's wall time")


if __name__ == "__main__":
    main()
