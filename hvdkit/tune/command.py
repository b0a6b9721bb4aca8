"""`hvdkit tune`: which settings of Horovod make a training fast on these hosts."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvdkit import reports
from hvdkit.arguments import CommandParser, parsed
from hvdkit.bench import targets
from hvdkit.console import show_line
from hvdkit.earlier import SETTINGS, is_report
from hvdkit.errors import UsageError
from hvdkit.files import write_output
from hvdkit.launch import tuned
from hvdkit.printable import counted, one_line
from hvdkit.shell import word
from hvdkit.verify.options import split_arguments

if TYPE_CHECKING:
    from hvdkit.bench.job import Ground
    from hvdkit.tune.search import Candidate, Tried

EXAMPLES = f"""\
hvdkit tune                                  a small transformer on two ranks of this machine
hvdkit tune train.py -H a:2,b:2 -- --lr 0.1    a script for Horovod with its arguments, on two hosts
hvdkit run --tuned {tuned.FILE} -H a:2,b:2 python train.py   use what was found
hvdkit tune mlp --minutes 2 --json           a shorter search, as JSON
"""
EXITS = {"0": "the settings were written", "2": "a job could not be started, or failed"}
NOTE = (
    "Searched: the controller, mpi_yield_when_idle, threads of a rank, cycle time, fusion threshold and the\n"
    "response cache; on GPUs (not run on one yet) hierarchical allreduce and NCCL streams, too. They change\n"
    "rounding at most, by the order of sums. What changes results, as compression does, is never proposed."
)


def parser() -> CommandParser:
    """The arguments of the command."""
    from hvdkit.bench import job

    made = CommandParser(
        "tune",
        "Search the settings of Horovod that make a training fast on these hosts, and write them to a file.",
        EXAMPLES,
        EXITS,
        NOTE,
    )
    targets.add_target(made)
    job.add_options(made)
    made.add_argument(
        "--minutes", type=float, default=5.0, metavar="M", help="begin no job after so many (default 5)"
    )
    made.add_argument(
        "-o",
        "--output",
        action=reports.Output,
        known=is_report,
        default=Path(tuned.FILE),
        help=f"write the settings there (default {tuned.FILE})",
    )
    reports.add_reports(made, {"--json": "what was tried as JSON"})
    return made


def main(argv: Sequence[str]) -> int:
    """Run `hvdkit tune`. Raises: HvdkitError."""
    own, arguments = split_arguments(list(argv[1:]))
    asked = parsed(parser(), own)
    what = [asked.what, *arguments]
    targets.check_target(what)
    if not asked.minutes > 0:
        raise UsageError(f"--minutes {asked.minutes:g}", fix="more than 0")
    from hvdkit.bench import job

    until = time.monotonic() + 60 * asked.minutes
    ground = job.prepare(asked, targets.say)
    if ground.ranks < 2:
        raise UsageError("one rank exchanges nothing: there is nothing to tune", fix="hvdkit tune -np 2 ...")
    first, best, tried = search(ground, what, until)
    remarks = [
        f"{SETTINGS} for {what[0]} on {ground.used.argument}. Use: hvdkit run --tuned FILE",
        *(f"{each.candidate.name}: {each.ratio.middle:.2f} of a step" for each in tried if each.gains),
    ]
    write_output(asked.output, tuned.written(best.setting, remarks).encode())
    found = data(what[0], first, best, tried, asked.output)
    if asked.json is not None:
        reports.put_json(asked.json, found)
    if asked.json != reports.STDOUT:
        show(found)
    return 0


def search(ground: Ground, what: Sequence[str], until: float) -> tuple[Candidate, Candidate, list[Tried]]:
    """What `hvdkit run` would choose, the best that was found, and all that was tried on the way.

    First how ranks start, as it changes most; then one variable after another on top of the best, as long as
    one gains.
    """
    from hvdkit.bench import figures, job
    from hvdkit.tune import space
    from hvdkit.tune.search import halving

    devices: set[str] = set()

    def measure(candidate: Candidate, steps: int) -> float:
        try:
            recorded = job.run(ground, "horovod", steps, what, candidate.setting)
        except job.MeasuredJobError as error:
            if candidate.name == first.name:
                raise
            targets.say(f"{candidate.name}: left out, its job failed: {error.seen}")
            return math.inf
        devices.add(recorded.device)
        seconds = figures.step_of(recorded).median
        targets.say(f"{seconds * 1e3:8.1f} ms a step: {candidate.name}")
        return seconds

    first = best = space.usual(ground)
    others = [each for each in space.starts(ground) if each.name != first.name]
    tried = halving(first, others, measure, until)
    if tried and tried[0].gains:
        best = tried[0].candidate
    following = space.changes(best, on_gpu=bool(devices - {"cpu"}))
    while following and time.monotonic() < until:
        found = halving(best, following, measure, until)
        tried += found
        if not found or not found[0].gains:
            break
        added = found[0].candidate
        # Only what seemed to gain is tried again on top of it.
        hopeful = [each.candidate.setting.variables for each in found[1:] if each.ratio.middle < 1]
        values = {name: value for variables in reversed(hopeful) for name, value in variables.items()}
        following = [
            space.changed(added, name, value)
            for name, value in values.items()
            if name not in added.setting.variables
        ]
        best = added
    return first, best, tried


def data(
    what: str, first: Candidate, best: Candidate, tried: Sequence[Tried], output: Path
) -> dict[str, Any]:
    """For --json."""
    return {
        "schema": 1,
        "what": what,
        "usual": first.name,
        "best": best.name,
        "output": str(output),
        "tried": [
            {
                "name": each.candidate.name,
                "ratio": each.ratio._asdict() if math.isfinite(each.ratio.high) else None,
                "blocks": each.blocks,
                "gains": each.gains,
            }
            for each in tried
        ],
    }


def show(found: dict[str, Any]) -> None:
    """For a person: what `data` returns."""
    show_line(f"{found['what']}: a step, over that of what it was compared with in the same blocks")
    show_line()
    for each in found["tried"]:
        ratio = each["ratio"]
        shown = "{middle:.2f} ({low:.2f} to {high:.2f})".format(**ratio) if ratio else "failed"
        mark = ("gains", "green") if each["gains"] else "dropped" if each["blocks"] < 2 else "no gain"
        show_line(f"{shown:22} in {counted(each['blocks'], 'block')}  {each['name']}  ", mark)
    show_line()
    if found["best"] == found["usual"]:
        show_line(f"nothing gains more than the noise over what hvdkit run chooses: {found['best']}")
    else:
        show_line(f"best: {found['best']}")
    show_line(f"{one_line(found['output'])}: use it with hvdkit run --tuned {word(found['output'])} ...")
