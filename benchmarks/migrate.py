"""Throughput of `hvdkit migrate` beside a LibCST pass with qualified names, and PaConvert, on the same files.

    pip install libcst paconvert astor black isort && python benchmarks/migrate.py DIR...

Each folder is one project. All of its files are taken, and then those that hvdkit rewrites and those that it
leaves; for each group lines per second of CPU time on one core are printed, and the ratio to each peer that
is installed. Nothing is written into the folders. The first column is a limit, not a peer: Python's own
parser, once over each file. LibCST does what a codemod needs at the least: parse, resolve the qualified name
of every call, and give the code back. PaConvert is a finished codemod, from PyTorch to Paddle, on Python's
ast: one file at a time, by tables of names, comments and layout lost; its formatting of the result is left
off. hvdkit follows values between files and looks at its result a second time: its time is that of both
passes, and of what the files import.
"""

from __future__ import annotations

import argparse
import ast
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Callable

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.project.opening import python_files


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time of one call, in seconds."""
    began = time.process_time()
    work()
    return time.process_time() - began


def with_the_parser(paths: Sequence[Path]) -> None:
    """Parse each file."""
    for path in paths:
        ast.parse(path.read_text(encoding="utf-8", errors="replace"))


def with_libcst(paths: Sequence[Path]) -> None:
    """Parse each file, ask for the qualified name of every call, and generate the code again."""
    import libcst
    from libcst.metadata import MetadataWrapper, QualifiedNameProvider

    class Calls(libcst.CSTTransformer):
        METADATA_DEPENDENCIES = (QualifiedNameProvider,)

        def leave_Call(  # noqa: N802 (LibCST's name)
            self, original_node: libcst.Call, updated_node: libcst.Call
        ) -> libcst.Call:
            self.get_metadata(QualifiedNameProvider, original_node.func, set())
            return updated_node

    for path in paths:
        text = path.read_text(encoding="utf-8", errors="replace")
        MetadataWrapper(libcst.parse_module(text)).visit(Calls()).code  # noqa: B018


def with_paconvert(paths: Sequence[Path]) -> None:
    """Convert each file to Paddle, into a folder that is thrown away."""
    from paconvert.converter import Converter

    converter = Converter(log_level="CRITICAL", no_format=True)
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            converter.transfer_file(str(path), f"{folder}/converted.py")


PEERS = {
    "ast": ("ast.parse", with_the_parser),
    "libcst": ("LibCST", with_libcst),
    "paconvert": ("PaConvert", with_paconvert),
}


def main() -> int:
    """Print lines per second and ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    peers = [peer for module, peer in PEERS.items() if find_spec(module) is not None]
    if len(peers) == 1:
        print("no peer is installed: pip install libcst", file=sys.stderr)
        return 2
    plans = [make_plan([folder], Options()) for folder in args.folders]
    rewritten = {file.path for plan in plans for file in plan.changed}
    everything = [[path for path in python_files(folder) if path.suffix == ".py"] for folder in args.folders]
    strange = {path for plan in plans for path, _, _ in plan.unreadable}
    groups = {
        "whole": [[path for path in project if path not in strange] for project in everything],
        "rewritten": [[path for path in project if path in rewritten] for project in everything],
        "left alone": [
            [path for path in project if path not in rewritten | strange] for project in everything
        ],
    }
    heads = "".join(f" {name + ' lines/s':>18} {'ratio':>6}" for name, _ in peers)
    print(f"{'files':<12} {'count':>6} {'lines':>9} {'hvdkit lines/s':>15}{heads}")
    for name, projects in groups.items():
        paths = [path for project in projects for path in project]
        if not paths:
            print(f"{name:<12} {0:>6}")
            continue
        lines = sum(path.read_bytes().count(b"\n") for path in paths)
        ours: list[float] = []
        theirs: dict[str, list[float]] = {peer: [] for peer, _ in peers}
        for _ in range(args.rounds):
            ours.append(cpu_seconds(lambda each=projects: [make_plan(paths, Options()) for paths in each]))
            for peer, work in peers:
                theirs[peer].append(cpu_seconds(lambda work=work, paths=paths: work(paths)))
        cells = [f"{lines / statistics.median(ours):>15,.0f}"]
        for seconds in theirs.values():
            ratio = statistics.median(b / a for a, b in zip(ours, seconds))
            cells.append(f"{lines / statistics.median(seconds):>18,.0f} {ratio:>6.2g}")
        print(f"{name:<12} {len(paths):>6} {lines:>9} {' '.join(cells)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
