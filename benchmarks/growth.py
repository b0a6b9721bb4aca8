"""How long migrate and check take for folders, next to ast.parse of the same files, in one process.

growth.py FOLDER... prints for each folder the CPU seconds of ast.parse, and how many times that check and
migrate take. growth.py alone does the same for 25 and 100 copies of examples/: both rows should be alike.
"""

from __future__ import annotations

import argparse
import ast
import shutil
import tempfile
import time
from pathlib import Path
from typing import Callable

from hvdkit.check.command import make_plan as make_check_plan
from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options

EXAMPLES = Path(__file__).parent.parent / "examples"
MOST = 20  # times ast.parse
COPIES = (25, 100)  # of examples/, where no folder is given


def cpu(work: Callable[[], object]) -> float:
    """The CPU seconds that some work takes."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def measure(name: str, folder: Path) -> bool:
    """Print the row of a folder, and return whether both commands stay within MOST."""
    files = list(folder.rglob("*.py"))
    parsed = cpu(lambda: [ast.parse(file.read_bytes()) for file in files])
    checked = cpu(lambda: make_check_plan([folder], Options())) / parsed
    migrated = cpu(lambda: make_plan([folder], Options())) / parsed
    print(
        f"{name}: {len(files)} files, ast.parse {parsed:.2f} s, check x{checked:.1f}, migrate x{migrated:.1f}"
    )
    return max(checked, migrated) <= MOST


def copied(count: int) -> bool:
    """The row of so many copies of examples/."""
    with tempfile.TemporaryDirectory() as made:
        for number in range(count):
            shutil.copytree(EXAMPLES, Path(made) / f"copy{number}")
        return measure(f"{count} copies of examples", Path(made))


def main() -> int:
    """Print a row for each folder; 1 where one takes longer than MOST allows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--copies", nargs="*", type=int)
    args = parser.parse_args()
    copies = args.copies if args.copies is not None else [] if args.folders else COPIES
    within = [measure(str(folder), folder.resolve()) for folder in args.folders]
    return int(not all([*within, *map(copied, copies)]))


if __name__ == "__main__":
    raise SystemExit(main())
