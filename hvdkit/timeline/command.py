"""`hvdkit timeline FILE`: why the steps of a job are slow, by Horovod's timeline of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from hvdkit import reports
from hvdkit.arguments import CommandParser, parsed
from hvdkit.printable import one_line

EXAMPLES = """\
hvdkit run --timeline timeline.json -np 4 -H a:2,b:2 python train.py   record one
hvdkit timeline timeline.json                    what makes its steps slow, and what to change
hvdkit timeline timeline.json --html=page.html   the same, with a picture of a step
hvdkit timeline timeline.json --perfetto=t.json  a trace for https://ui.perfetto.dev
"""
EXITS = {
    "0": "nothing in it makes the steps slow",
    "1": "a cause was found, or there are no steps in it",
    "2": "the file is no timeline",
}


def parser() -> CommandParser:
    """The arguments of the command."""
    made = CommandParser(
        "timeline",
        "Say what makes the steps of a Horovod job slow, by the timeline that it recorded.",
        EXAMPLES,
        EXITS,
        "Rank 0 records it: HOROVOD_TIMELINE=FILE, or hvdkit run --timeline FILE.",
    )
    made.add_argument("file", type=Path, metavar="FILE", help="the timeline")
    helps = {
        "--perfetto": "a trace with ranks and steps",
        "--html": "a page with a picture of a step",
        "--json": "what was found as JSON",
    }
    reports.add_reports(made, helps)
    return made


def main(argv: Sequence[str]) -> int:
    """Run `hvdkit timeline`. Raises: HvdkitError."""
    asked = parsed(parser(), argv[1:])
    from hvdkit.timeline import events, report, trace
    from hvdkit.timeline.causes import causes_of
    from hvdkit.timeline.html import as_html
    from hvdkit.timeline.steps import steps_of

    timeline, text = events.read(asked.file)
    steps = steps_of(timeline)
    causes = causes_of(steps)
    found = report.data(timeline, steps, causes)
    said = reports.free_stdout(asked.perfetto, asked.html, asked.json)
    if said is sys.stdout:
        print(report.text(found), end="")
    if asked.json is not None:
        reports.put_json(asked.json, found, [asked.file])
    if asked.perfetto is not None:
        reports.put_json(asked.perfetto, trace.as_trace(text, steps), [asked.file], indent=None)
        _open_in("https://ui.perfetto.dev", asked.perfetto, said)
    if asked.html is not None:
        reports.put(asked.html, as_html(found, steps), [asked.file])
        _open_in("a browser", asked.html, said)
    return int(bool(causes) or not steps)


def _open_in(program: str, place: Path, said: TextIO) -> None:
    if place != reports.STDOUT:
        print(f"{one_line(str(place))}: open it in {program}", file=said)
