"""Hunt what `hvdkit migrate` says and does not hold: generated programs are migrated, run, and held to it.

    python benchmarks/truth.py --seed 1 --programs 40 --jobs 2 --keep /tmp/wrong
    python benchmarks/truth.py --examples --jobs 2

Each program is drawn from what real scripts hold (truth/choices.py), migrated, and run by two ranks, on two
hosts and on one, and alone. Printed are the false yes (a row or a verdict that a run refutes), the needless
open (a program that is right when it is run, and is not called ready), and both by row and by what was drawn.
--keep takes the programs that were wrong, with fewer choices where those show the same. Exit code 1 when
there is a false yes.
"""

from __future__ import annotations

import concurrent.futures
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from truth.choices import WAYS, Choices, drawn
from truth.claims import Fault, false_yes, migrated, needless
from truth.examples import Example, Outcome, examples, tried
from truth.held import ROWS, faults
from truth.hunt import hunted, parser
from truth.results import Result, found_lines, told
from truth.runs import Job, jobs, written
from truth.warm import Warm


def held(warm: Warm, seed: int, choices: Choices) -> Result:
    """Migrate and run one program in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix=f"truth-{seed}-") as name:
        folder, out = Path(name) / "program", Path(name) / "seen"
        written(choices, folder)
        out.mkdir()
        claims = migrated(warm, folder, out / "plan.json")
        if unknown := set(claims.rows) - set(ROWS):
            raise SystemExit(f"rows that nothing is held against: {', '.join(sorted(unknown))}")
        ran: list[Job] = []
        found: list[Fault] = []
        for job in jobs(warm, choices, folder, out) if claims.verdict != "refused" else ():
            ran.append(job)
            found = faults(choices, ran)
            if found:  # the other runs would mostly find the same again
                break
    return Result(
        seed,
        choices,
        claims,
        tuple(found),
        tuple(false_yes(claims, found)),
        tuple(needless(claims, found)),
    )


def reduced(warm: Warm, result: Result) -> Result:
    """The same fault with as few choices as show it: each is made plain where that leaves it."""
    for thing in WAYS:
        fewer = result.choices.plainer(thing)
        if fewer != result.choices:
            again = held(warm, result.seed, fewer)
            if again.wrong & result.wrong:
                result = again
    return result


def keep(warm: Warm, result: Result, folder: Path) -> None:
    """A wrong program as it was and as it became, with what was wrong."""
    before, after = folder / str(result.seed) / "before", folder / str(result.seed) / "after"
    shutil.rmtree(folder / str(result.seed), ignore_errors=True)
    written(result.choices, before)
    written(result.choices, after)
    migrated(warm, after, folder / str(result.seed) / "plan.json")
    (folder / str(result.seed) / "wrong.txt").write_text("\n".join(told(result)) + "\n")


def rule_examples(jobs: int) -> int:
    """Hold the examples of the rules that run, and say why the others do not."""

    def one(example: Example) -> Outcome:
        with tempfile.TemporaryDirectory(prefix="truth-example-") as name:
            return tried(warm, example, Path(name))

    outcomes: list[Outcome] = []
    with Warm() as warm, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(one, example) for example in examples()]
        try:
            for done in concurrent.futures.as_completed(waiting):
                outcome = done.result()
                outcomes.append(outcome)
                if outcome.claims and (outcome.faults or outcome.needless):
                    print(f"{outcome.example.name}: {outcome.claims.verdict}")
                    print("\n".join(found_lines(outcome.faults, outcome.lies, outcome.needless)), flush=True)
        except KeyboardInterrupt:  # the figures are those of the examples that were held until then
            for each in waiting:
                each.cancel()
    ran = [one for one in outcomes if not one.why_not]
    print(f"\n{len(outcomes)} examples, {len(ran)} run")
    for why, n in Counter(one.why_not for one in outcomes if one.why_not).most_common():
        print(f"  {n:4} {why}")
    for verdict, n in Counter(one.claims.verdict for one in ran if one.claims).most_common():
        print(f"  {n:4} of those that run are {verdict}")
    lies = sum(bool(one.lies) for one in ran)
    print(f"{lies} with a false yes, {sum(bool(one.needless) for one in ran)} with a needless open")
    return int(lies > 0)


def main() -> int:
    """Hold the programs of a range of seeds, and print what came of it."""
    made = parser(str(__doc__))
    made.add_argument(
        "--examples", action="store_true", help="hold the rules' examples, not generated programs"
    )
    args = made.parse_args()
    if args.examples:
        return rule_examples(args.jobs)
    with Warm() as warm:
        results = hunted(args, lambda seed: held(warm, seed, drawn(seed)), ROWS)
        for result in results if args.keep else []:
            if result.lies or result.needless:
                keep(warm, reduced(warm, result), args.keep)
    return int(any(result.lies for result in results))


if __name__ == "__main__":
    sys.exit(main())
