"""How close `hvdkit tune` comes to the best of an exhaustive grid, on two ranks of this machine.

    python benchmarks/tune.py [mlp resnet18 transformer] [--rounds 2] [--finals 12]

For each model: the search of `hvdkit tune` with its five minutes; a grid of all controllers and threads that
the search has, each with each of its changes or none, in interleaved rounds; then the setting that was found
and the best of the grid in interleaved blocks. Controllers and threads that are 1.5 times slower than the
best by themselves are left out of the grid: no change makes up for that. Printed are the time of the search,
both settings, and the median and the quartiles of found over best.

Exit code 1 where fewer than two models, or the only one, are within 5 %.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterable

from hvdkit.bench import figures, job, targets
from hvdkit.bench.blocks import Spread, orders, spread
from hvdkit.bench.job import Ground
from hvdkit.tune import space
from hvdkit.tune.command import parser, search
from hvdkit.tune.search import Candidate

GOAL = 1.05
MINUTES = 5
GRID_STEPS, FINAL_STEPS = 30, 60
HOPELESS = 1.5  # times the best


def seconds(ground: Ground, model: str, candidate: Candidate, steps: int) -> float:
    """Median step of one job."""
    found = job.run(ground, "horovod", steps, [model], candidate.setting)
    return figures.step_of(found).median


def best_of_grid(ground: Ground, model: str, rounds: int) -> Candidate:
    """By the median over the rounds."""
    starts = {each.name: each for each in (space.usual(ground), *space.starts(ground))}
    plain = {name: seconds(ground, model, each, GRID_STEPS) for name, each in starts.items()}
    fair = [starts[name] for name, step in plain.items() if step < HOPELESS * min(plain.values())]
    left = [each for start in fair for each in (start, *space.changes(start, on_gpu=False))]
    taken: dict[str, list[float]] = {each.name: [] for each in left}
    for number in range(rounds):
        targets.say(f"{model}: round {number + 1} of {rounds} of {len(left)} settings")
        for each in left[number:] + left[:number]:
            taken[each.name].append(seconds(ground, model, each, GRID_STEPS))
    return min(left, key=lambda each: statistics.median(taken[each.name]))


def compared(ground: Ground, model: str, found: Candidate, best: Candidate, blocks: int) -> Spread:
    """Found over best."""
    if found.name == best.name:
        return spread([1.0])
    ratios = []
    for order in orders([found, best], blocks):
        taken = {each.name: seconds(ground, model, each, FINAL_STEPS) for each in order}
        ratios.append(taken[found.name] / taken[best.name])
    return spread(ratios)


def tuned(ground: Ground, models: Iterable[str], rounds: int, finals: int) -> list[bool]:
    """Whether each model is within the goal."""
    within = []
    for model in models:
        began = time.monotonic()
        _, found, _ = search(ground, [model], began + 60 * MINUTES)
        took = time.monotonic() - began
        best = best_of_grid(ground, model, rounds)
        ratio = compared(ground, model, found, best, finals)
        within.append(ratio.middle <= GOAL)
        print(
            f"{model}: {took:.0f} s; found over best {ratio.middle:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"
        )
        print(f"  found: {found.name}\n  best:  {best.name}", flush=True)
    return within


def main() -> int:
    """Print the table."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("models", nargs="*", metavar="MODEL", default=[*targets.BUILT_IN])
    made.add_argument("--rounds", type=int, default=2, metavar="N", help="of the grid")
    made.add_argument("--finals", type=int, default=12, metavar="N", help="blocks of found and best")
    asked = made.parse_args()
    ground = job.prepare(parser().parse_args(["-np", "2"]), targets.say)
    within = tuned(ground, asked.models, asked.rounds, asked.finals)
    return int(sum(within) < min(2, len(within)))


if __name__ == "__main__":
    sys.exit(main())
