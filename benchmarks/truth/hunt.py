"""Programs of a range of seeds, several at a time: what both halves of the hunt begin with."""

from __future__ import annotations

import argparse
import concurrent.futures
from collections.abc import Callable, Sequence
from pathlib import Path

from truth.results import Result, counted, told


def parser(description: str) -> argparse.ArgumentParser:
    """The options of a hunt."""
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--seed", type=int, default=0, help="other programs for each number")
    made.add_argument("--programs", type=int, default=40)
    made.add_argument("--jobs", type=int, default=1, help="programs at a time, of two ranks each")
    made.add_argument("--keep", type=Path, help="folder for the programs that were wrong")
    return made


def hunted(asked: argparse.Namespace, hold: Callable[[int], Result], rows: Sequence[str]) -> list[Result]:
    """Hold the program of each seed, and print what came of it. After Ctrl-C: those until then."""
    results: list[Result] = []
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        waiting = [pool.submit(hold, asked.seed * 100_000 + number) for number in range(asked.programs)]
        try:
            for done in concurrent.futures.as_completed(waiting):
                results.append(done.result())
                print("\n".join(told(results[-1])), flush=True)
        except KeyboardInterrupt:
            for one in waiting:
                one.cancel()
    print("\n" + "\n".join(counted(results, rows)), flush=True)
    return results
