"""DDP programs to Horovod and back: what of their text does not come back, and whether they compute the same.

    python benchmarks/round_trips.py --programs 30

The examples and the migrations that are kept beside the benchmarks, whose Horovod form is there already, and
programs of truth.py that torchrun starts, which are migrated first. Those are run on two ranks, before and
after the round trip, from the same seeds: every weight and buffer of every rank has to be the same to the
bit. A line is lost where the text that comes back has no such line; what is written beside it is not counted.
Exit code 1 where a program that is ready ends differently.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from truth.choices import Choices, drawn
from truth.programs import epochs_of, options
from truth.runs import JOB_LIMIT, written
from truth.warm import ROOT, Warm

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import Plan, State

MODULES = ("torch._dynamo", "truth.returned")
CARDS = 2
# What a lost line is about, by what it says; the first that fits.
KINDS = {
    "import": ("import ",),
    "start of the process group": ("init_process_group", "MASTER_", "set_start_method", ".spawn("),
    "rank and size": ("RANK", "WORLD_SIZE", "get_rank", "get_world_size"),
    "wrap": ("DDP(", "DistributedDataParallel("),
    "sampler": ("Sampler(",),
    "model behind its wrapper": (".module",),
    "collective": ("all_reduce", "all_gather", "broadcast", "barrier"),
}


@dataclass(frozen=True)
class Trip:
    """What came of one program. lost: what did not come back of its lines. same: the bits; None: not run."""

    name: str
    verdict: str
    lines: int = 0
    lost: tuple[str, ...] = ()
    same: bool | None = None

    @property
    def near(self) -> bool:
        """Whether at most 3 % of the lines, or 4, did not come back."""
        return len(self.lost) <= max(4, 0.03 * self.lines)


def lost(before: str, after: str) -> tuple[str, ...]:
    """The lines of a text that another one has not, blank ones left out, whatever their indentation."""
    left = Counter(line.strip() for line in before.splitlines() if line.strip())
    left.subtract(line.strip() for line in after.splitlines())
    return tuple(line for line, count in left.items() for _ in range(count))


def ready(plan: Plan) -> bool:
    """Whether a plan changes something and leaves nothing to a person."""
    rows = [row for program in plan.programs for row in program.conditions]
    return bool(plan.changed) and not plan.leaves and not any(row.state is State.OPEN for row in rows)


def applied(plan: Plan, folder: Path, target: Path) -> None:
    """The files of a folder as a plan leaves them, in a new folder."""
    shutil.copytree(folder, target)
    for file in plan.files:
        if file.changed:
            (target / file.path.name).write_text(file.after)


def kept() -> Iterator[Trip]:
    """The programs whose Horovod form is kept beside the original."""
    pairs = [(path.with_name("train_ddp.py"), path) for path in ROOT.glob("examples/*/train_ddp_horovod.py")]
    pairs += [(path.with_name("original.py"), path) for path in ROOT.glob("benchmarks/migrations/*/right.py")]
    for original, script in sorted(pairs):
        text = original.read_text()
        if "torch.distributed" in text:
            plan = make_plan([script], Options("ddp"))
            (file,) = (each for each in plan.files if each.path == script)
            name = str(script.parent.relative_to(ROOT))
            gone = lost(text, file.after)
            if ready(plan):
                yield Trip(name, "", len(text.splitlines()), gone)
            else:
                yield Trip(name, "left on the way back")


def generated(warm: Warm, seed: int, choices: Choices) -> Trip:
    """A drawn program there and back, run before and after."""
    name = f"truth {seed}"
    with tempfile.TemporaryDirectory(prefix="round-trip-") as place:
        there, horovod, back = (Path(place) / each for each in ("there", "horovod", "back"))
        written(choices, there)
        plan = make_plan([there], Options())
        if not ready(plan):
            return Trip(name, "left on the way there")
        applied(plan, there, horovod)
        plan = make_plan([horovod], Options("ddp"))
        if not ready(plan):
            return Trip(name, "left on the way back")
        applied(plan, horovod, back)
        texts = [(folder / "train.py").read_text() for folder in (there, back)]
        gone, lines = lost(*texts), len(texts[0].splitlines())
        script = ["train.py", *options(choices, epochs_of(choices))]
        ends = [_end(warm, folder, script) for folder in (there, back)]
    if ends[0] is None:
        return Trip(name, "the original does not run", lines, gone)
    return Trip(name, "" if ends[0] == ends[1] else "differs", lines, gone, ends[0] == ends[1])


def _end(warm: Warm, folder: Path, script: list[str]) -> list[object] | None:
    """What both ranks of a program ended with; None where it failed."""
    out = folder / "end"
    code, _ = warm.original(["rank", str(out), str(CARDS), *script], folder, JOB_LIMIT)
    return None if code else [json.loads(Path(f"{out}.{rank}").read_text()) for rank in range(2)]


def kind(line: str) -> str:
    """What a lost line is about."""
    return next((name for name, parts in KINDS.items() if any(part in line for part in parts)), "other")


def table(trips: list[Trip]) -> str:
    """What came of all programs, in Markdown."""
    shown = {True: "same bits", False: "DIFFERENT", None: "not run"}
    rows = [
        f"| {trip.name} | {trip.verdict or 'back'} | {len(trip.lost)} of {trip.lines} | {shown[trip.same]} |"
        for trip in trips
    ]
    back = [trip for trip in trips if trip.lines]
    run = [trip for trip in trips if trip.same is not None]
    kinds = Counter(kind(line) for trip in back for line in trip.lost)
    share = statistics.median(len(trip.lost) / trip.lines for trip in back)
    return "\n".join(
        (
            "| program | verdict | lines lost | run on two ranks |\n| --- | --- | --- | --- |",
            *rows,
            f"\n{len(back)} of {len(trips)} came back; at most 3 % of the lines, or 4, lost in "
            f"{sum(trip.near for trip in back)}; median {share:.1%}",
            f"same bits: {sum(trip.same is True for trip in run)} of {len(run)}",
            *(f"- {count} lost: {name}" for name, count in kinds.most_common()),
        )
    )


def main() -> int:
    """Print the table; 1 where a program that came back ends differently."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--programs", type=int, default=30, help="how many drawn programs come back (30)")
    parser.add_argument("--seed", type=int, default=1, help="of the first drawn program (1)")
    args = parser.parse_args()
    trips = list(kept())
    seed = args.seed
    with Warm(MODULES) as warm:
        while sum(trip.lines > 0 for trip in trips if trip.name.startswith("truth")) < args.programs:
            choices = drawn(seed)
            if choices["launch"] == "torchrun":
                trips.append(generated(warm, seed, choices))
            seed += 1
    print(table(trips))
    return int(any(trip.same is False for trip in trips))


if __name__ == "__main__":
    sys.exit(main())
