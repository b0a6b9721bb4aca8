"""Mutate migrations by rules, and count what `hvdkit verify` takes each for.

    python benchmarks/mutation.py --seed 7 --wrong 40 --right 30

Originals are pairs that were written by hand and generated programs that migrate calls ready
(mutation/originals.py). A mistake (mutation/wrong.py) or a refactoring (mutation/right.py) is made where
it fits, by a random number. It counts as wrong when the job on two ranks, run without verify, computes,
prints or saves other values than the right migration; and as right when a refactoring does not, or is as
right by what it is. Then `hvdkit verify ORIGINAL MUTANT --to-end` judges it. Exit code 1 when a wrong one
was accepted.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import difflib
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from mutation.oracle import MODULES, Seen, apart, seen
from mutation.originals import MIGRATED, ORIGINAL, ROOT, Original, by_hand, generated
from mutation.results import Mutant, Outcome, add, counted, judged
from mutation.right import REFACTORINGS, Refactoring
from mutation.source import Source
from mutation.wrong import MISTAKES, Mistake
from truth.warm import Warm

Operator = Mistake | Refactoring
VERIFY_LIMIT = 300  # seconds


class Bench:
    """The originals of one run, and what the right migration of each does."""

    def __init__(self, warm: Warm, seed: int, programs: int, scratch: Path) -> None:
        self.warm, self.scratch = warm, scratch
        self.random = random.Random(seed)
        self.tried: set[str] = set()
        self.used: defaultdict[str, float] = defaultdict(float)
        found = [*by_hand(scratch), *self._programs(seed, programs)]
        self.references: dict[str, Seen] = {}
        self.originals: list[Original] = []
        for original in found:
            runs = [self.run(original, original.text, f"reference{n}") for n in (1, 2)]
            if any(code for code, _ in runs) or [*apart(runs[0][1], runs[1][1])]:
                print(f"left out: {original.name}: it fails, or does not repeat itself", flush=True)
                continue
            self.originals.append(original)
            self.references[original.name] = runs[0][1]
        print(f"{len(self.originals)} originals", flush=True)

    def _programs(self, seed: int, wanted: int) -> Iterator[Original]:
        number = seed * 100_000
        while wanted:
            number += 1
            original = generated(self.warm, number, self.scratch)
            if original:
                wanted -= 1
                yield original

    def run(self, original: Original, text: str, name: str) -> tuple[int, Seen]:
        """What a script does without verify."""
        with tempfile.TemporaryDirectory(dir=self.scratch, prefix=f"{name}-") as folder:
            return seen(self.warm, original, text, Path(folder))

    def draw(self, operators: Sequence[Operator]) -> Iterator[Mutant]:
        """Mutants that are what their operator means them to be; those used least come first."""
        while True:
            order = sorted(operators, key=lambda one: (self.used[one.name], self.random.random()))
            mutant = next(filter(None, map(self._drawn, order)), None)
            if mutant is None:
                return
            yield mutant

    def _drawn(self, operator: Operator) -> Mutant | None:
        originals = self.random.sample(self.originals, len(self.originals))
        for original in originals:
            if isinstance(operator, Refactoring) and not operator.exact and not original.is_one_process:
                continue
            source = Source(original.text)
            sites = list(operator.sites(source))
            self.random.shuffle(sites)
            for edits in sites:
                text = source.edited(edits)
                key = f"{original.name} {text}"
                if key in self.tried:
                    continue
                self.tried.add(key)
                if self._is_meant(original, operator, text):
                    self.used[operator.name] += 1
                    return Mutant(original.name, operator.name, isinstance(operator, Mistake), text)
                self.used[operator.name] += 0.25
        return None

    def _is_meant(self, original: Original, operator: Operator, text: str) -> bool:
        """Whether a mutant runs to its end, and does what is wrong or right."""
        compile(text, MIGRATED, "exec")
        code, found = self.run(original, text, operator.name)
        if code:
            return False
        differs = next(apart(self.references[original.name], found), "")
        if isinstance(operator, Mistake):
            return bool(differs)
        if differs and operator.exact:
            print(f"no refactoring: {operator.name} of {original.name}: {differs}", flush=True)
        return not (differs and operator.exact)


def verified(original: Original, mutant: Mutant, scratch: Path) -> tuple[int, str]:
    """Exit code and output of verify."""
    with tempfile.TemporaryDirectory(dir=scratch, prefix="verify-") as name:
        for path in original.folder.iterdir():
            (Path(name) / path.name).write_bytes(path.read_bytes())
        (Path(name) / MIGRATED).write_text(mutant.text)
        command = [
            sys.executable,
            "-m",
            "hvdkit",
            "verify",
            ORIGINAL,
            MIGRATED,
            "--to-end",
            "--device",
            "cpu",
        ]
        command += ["--timeout", "60", "--", *original.arguments]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "OMP_NUM_THREADS": "1"}
        try:
            done = subprocess.run(
                command, cwd=name, env=environment, capture_output=True, text=True, timeout=VERIFY_LIMIT
            )
        except subprocess.TimeoutExpired:
            return 2, "no answer within the limit"
        return done.returncode, (done.stdout + done.stderr[max(done.stderr.find("hvdkit verify: "), 0) :])


def held(bench: Bench, operators: dict[str, Operator], mutant: Mutant, keep: Path | None) -> Outcome:
    """What verify says of one mutant, told and kept."""
    original = next(one for one in bench.originals if one.name == mutant.original)
    code, said = verified(original, mutant, bench.scratch)
    lines = changed(original.text, mutant.text)
    outcome = judged(mutant, getattr(operators[mutant.operator], "named", ""), code, said, lines)
    print(f"{outcome.what}: {mutant.operator} of {mutant.original}: {outcome.said}", flush=True)
    if keep and outcome.what not in ("refused and named", "agrees"):
        folder = keep / f"{mutant.operator}-{mutant.original.replace('/', '-')}"
        folder.mkdir(parents=True, exist_ok=True)
        for path in original.folder.iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
        (folder / "reference.py").write_text(original.text)
        (folder / MIGRATED).write_text(mutant.text)
        (folder / "said.txt").write_text(f"{' '.join(original.arguments)}\n{code}\n{said}")
    return outcome


def changed(before: str, after: str) -> set[int]:
    """The lines of a mutant that are not the reference's."""
    found: set[int] = set()
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    for kind, _, _, start, end in matcher.get_opcodes():
        if kind != "equal":
            found |= set(range(start + 1, max(end, start + 1) + 1))
    return found


def arguments() -> argparse.Namespace:
    """Of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, required=True, help="other programs and mutants for each number")
    parser.add_argument("--programs", type=int, default=12, help="generated originals")
    parser.add_argument("--wrong", type=int, default=40)
    parser.add_argument("--right", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=2, help="mutants that are verified at a time")
    parser.add_argument("--only", default="", metavar="TEXT", help="operators whose names match this")
    parser.add_argument("--keep", type=Path, help="folder for the mutants that were judged wrongly")
    parser.add_argument("--add", action="store_true", help="add the results to mutation.json and the page")
    return parser.parse_args()


def main() -> int:
    """Draw, judge, count."""
    asked = arguments()
    operators: dict[str, Operator] = {one.name: one for one in (*MISTAKES, *REFACTORINGS)}
    chosen = [one for one in operators.values() if re.search(asked.only, one.name)]
    outcomes: list[Outcome] = []

    def done(future: concurrent.futures.Future[Outcome]) -> None:
        outcomes.append(future.result())
        if asked.add:
            add(asked.seed, outcomes)

    with tempfile.TemporaryDirectory() as name, Warm(MODULES) as warm:
        bench = Bench(warm, asked.seed, asked.programs, Path(name))
        drawn = [
            itertools.islice(bench.draw([one for one in chosen if isinstance(one, kind)]), wanted)
            for kind, wanted in ((Mistake, asked.wrong), (Refactoring, asked.right))
        ]
        with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
            # In turns, so that a run that is ended early has some of both.
            for mutant in filter(None, itertools.chain.from_iterable(itertools.zip_longest(*drawn))):
                pool.submit(held, bench, operators, mutant, asked.keep).add_done_callback(done)
    print("\n" + counted(outcomes))
    return int(any(one.what == "false yes" for one in outcomes))


if __name__ == "__main__":
    sys.exit(main())
