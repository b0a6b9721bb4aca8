"""Throughput of `hvdkit migrate` beside a LibCST pass that resolves qualified names, on the same files.

    pip install libcst && python benchmarks/migrate.py DIR...

Each folder is one project. Files are split into those that hvdkit rewrites and those that it leaves; for
each group lines per second of CPU time on one core are printed, and the ratio to LibCST. Nothing is written.
LibCST does what a codemod needs at the least: parse, resolve the qualified name of every call, and give the
code back.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Callable

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.project import python_files


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time of one call, in seconds."""
    began = time.process_time()
    work()
    return time.process_time() - began


def with_libcst(texts: Sequence[str]) -> None:
    """Parse each text, ask for the qualified name of every call, and generate the code again."""
    import libcst
    from libcst.metadata import MetadataWrapper, QualifiedNameProvider

    class Calls(libcst.CSTTransformer):
        METADATA_DEPENDENCIES = (QualifiedNameProvider,)

        def leave_Call(  # noqa: N802 (LibCST's name)
            self, original_node: libcst.Call, updated_node: libcst.Call
        ) -> libcst.Call:
            self.get_metadata(QualifiedNameProvider, original_node.func, set())
            return updated_node

    for text in texts:
        MetadataWrapper(libcst.parse_module(text)).visit(Calls()).code  # noqa: B018


def main() -> int:
    """Print lines per second and ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    if find_spec("libcst") is None:
        print("libcst is not installed: pip install libcst", file=sys.stderr)
        return 2
    plans = [make_plan([folder], Options()) for folder in args.folders]
    rewritten = {file.path for plan in plans for file in plan.changed}
    everything = [[path for path in python_files(folder) if path.suffix == ".py"] for folder in args.folders]
    strange = {path for plan in plans for path, _, _ in plan.unreadable}
    groups = {
        "rewritten": [[path for path in project if path in rewritten] for project in everything],
        "left alone": [
            [path for path in project if path not in rewritten | strange] for project in everything
        ],
    }
    print(
        f"{'files':<12} {'count':>6} {'lines':>9} {'hvdkit lines/s':>15} {'LibCST lines/s':>15} {'ratio':>7}"
    )
    for name, projects in groups.items():
        paths = [path for project in projects for path in project]
        if not paths:
            print(f"{name:<12} {0:>6}")
            continue
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in paths]
        lines = sum(text.count("\n") for text in texts)
        ours, theirs = [], []
        for _ in range(args.rounds):
            ours.append(cpu_seconds(lambda each=projects: [make_plan(paths, Options()) for paths in each]))
            theirs.append(cpu_seconds(lambda texts=texts: with_libcst(texts)))
        fast, slow = statistics.median(ours), statistics.median(theirs)
        ratio = statistics.median(b / a for a, b in zip(ours, theirs))
        speeds = f"{lines / fast:>14,.0f} {lines / slow:>14,.0f}"
        print(f"{name:<12} {len(paths):>6} {lines:>9} {speeds} {ratio:>7.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
