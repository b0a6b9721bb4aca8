"""Measure what the paper job costs, next to ast.parse of the files that a program reaches.

    python benchmarks/job.py PATH...

Each file of a PATH that is a program by itself is run on paper, a folder's files one by one with what they
import from it. The two are timed in turn, and the smallest of five is taken of both. Printed are the ratios
(median and ninth decile) and how many programs could not be followed to their end.
"""

from __future__ import annotations

import argparse
import ast
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from hvdkit.job.run import CannotFollow, run
from hvdkit.job.store import Module
from hvdkit.source.read.room import roomy

TURNS = 5


def programs(paths: list[Path]) -> Iterator[Path]:
    """The files that start something when they are run."""
    for path in paths:
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            text = file.read_text(encoding="utf-8", errors="replace")
            if "__main__" in text or not path.is_dir():
                yield file


def finder(entry: Path, reached: dict[Path, ast.Module]) -> Callable[[str, Module], Module | None]:
    """What an import means: a file next to the program, or below its folder."""
    modules: dict[Path, Module] = {}

    def find(name: str, importer: Module) -> Module | None:
        base = Path(str(importer.file)).parent if name.startswith(".") else entry.parent
        inner = base.joinpath(*name.lstrip(".").split("."))
        for file in (inner.with_suffix(".py"), inner / "__init__.py"):
            if file.is_file() and file not in modules:
                reached[file] = ast.parse(file.read_bytes())
                modules[file] = Module(name, file, reached[file])
            if file in modules:
                return modules[file]
        return None

    return find


def measured(entry: Path) -> tuple[float, bool] | None:
    """The ratio of a program, and whether it was followed; None where it cannot be parsed."""
    ratios: list[tuple[float, float]] = []
    followed = True
    for _ in range(TURNS):
        reached: dict[Path, ast.Module] = {}
        try:
            tree = ast.parse(entry.read_bytes())
        except (SyntaxError, ValueError):
            return None
        find = finder(entry, reached)
        start = time.process_time()
        try:
            run(Module(entry.stem, entry, tree), find)
        except (CannotFollow, RecursionError):
            followed = False
        ran = time.process_time() - start
        texts = [file.read_bytes() for file in (entry, *reached)]
        start = time.process_time()
        for text in texts:
            ast.parse(text)
        parsed = time.process_time() - start
        # What find() parsed was part of the run.
        ratios.append((ran - parsed * bool(reached), parsed))
    return min(ran for ran, _ in ratios) / min(parsed for _, parsed in ratios), followed


@roomy
def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", type=Path, nargs="+")
    found = [each for entry in programs(parser.parse_args().paths) if (each := measured(entry)) is not None]
    if not found:
        sys.exit("no program was found: pass scripts, or a folder with files that have a main guard")
    ratios = sorted(ratio for ratio, _ in found)
    last = ratios[min(len(ratios) - 1, int(len(ratios) * 0.9))]
    lost = sum(not followed for _, followed in found)
    print(f"{len(found)} programs: {statistics.median(ratios):.1f} times ast.parse (9 of 10: {last:.1f})")
    print(f"not followed to the end: {lost}")


if __name__ == "__main__":
    main()
