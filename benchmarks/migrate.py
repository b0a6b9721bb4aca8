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

Below the table: for each folder the CPU time of its whole, how its time for a line compares with that of
samples of about 5,000 lines of the same files, and the most memory that `hvdkit migrate` of it holds.
"""

from __future__ import annotations

import argparse
import ast
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Callable

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.source.project.opening import python_files

SAMPLE, SAMPLES = 5_000, 5  # lines of a sample, and how many are taken


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


def lines_of(paths: Sequence[Path]) -> int:
    """How many lines files have."""
    return sum(path.read_bytes().count(b"\n") for path in paths)


def sampled(paths: Sequence[Path], root: Path, copies: Path) -> list[Path]:
    """Folders with every n-th file of a project at its place: SAMPLES of them, of about SAMPLE lines.

    They are copies: imports are followed, and only the files of the sample are there.
    """
    step = max(1, round(lines_of(paths) / SAMPLE))
    folders = []
    for first in range(min(step, SAMPLES)):
        folders.append(copies / str(first))
        for path in paths[first::step]:
            copy = folders[-1] / path.relative_to(root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    return folders


def peak(folder: Path) -> int:
    """The most memory that `hvdkit migrate` of a folder holds, in bytes.

    Linux counts what this process holds as the child's until that runs Python: it is asked for first.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "hvdkit", "migrate", "--no-diff", str(folder)], stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in (0, 1), f"migrate ended with {process.returncode}"
    return usage.ru_maxrss * 1024  # Linux counts kilobytes


def scale(root: Path, paths: Sequence[Path], rounds: int) -> str:
    """How the time of a project grows with it, in a line of text."""
    lines = lines_of(paths)
    with tempfile.TemporaryDirectory() as copies:
        parts = sampled(paths, root, Path(copies))
        of_parts = sum(lines_of(python_files(part)) for part in parts)
        whole, small = [], []
        for _ in range(rounds):
            whole.append(cpu_seconds(lambda: make_plan(paths, Options())))
            small.append(cpu_seconds(lambda: [make_plan([part], Options()) for part in parts]))
    seconds = statistics.median(whole)
    a_line, in_parts = seconds / lines, statistics.median(small) / of_parts
    return (
        f"{root.name}: {seconds:.1f} s of CPU for {lines:,} lines, {a_line * 1e6:.0f} us a line, "
        f"{a_line / in_parts:.2f} times the {in_parts * 1e6:.0f} us in {len(parts)} samples of "
        f"{of_parts // len(parts):,} lines"
    )


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
    peaks = [peak(folder) for folder in args.folders]
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
        lines = lines_of(paths)
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
        print(f"{name:<12} {len(paths):>6} {lines:>9} {' '.join(cells)}", flush=True)
    for folder, project, memory in zip(args.folders, groups["whole"], peaks):
        print(f"{scale(folder, project, args.rounds)}; at most {memory / 1e6:.0f} MB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
