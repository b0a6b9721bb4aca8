"""`hvdkit timeline FILE`: why the steps of a job are slow, by Horovod's timeline of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from hvdkit.arguments import CommandParser, parsed
from hvdkit.files import write_output

EXAMPLES = """\
hvdkit run --timeline timeline.json -np 4 -H a:2,b:2 python train.py   record one
hvdkit timeline timeline.json                    what makes its steps slow, and what to change
hvdkit timeline timeline.json --html page.html   the same, with a picture of a step
hvdkit timeline timeline.json --perfetto t.json  a trace for https://ui.perfetto.dev
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
    made.add_argument("--perfetto", type=Path, metavar="OUT", help="write a trace with ranks and steps there")
    made.add_argument("--html", type=Path, metavar="OUT", help="write a page with a picture of a step there")
    made.add_argument("--json", action="store_true", help="as JSON")
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
    print(json.dumps(found, indent=2) + "\n" if asked.json else report.text(found), end="")
    written = []
    if asked.perfetto is not None:
        write_output(asked.perfetto, trace.as_trace(text, steps).encode())
        written.append(f"{asked.perfetto}: open it in https://ui.perfetto.dev")
    if asked.html is not None:
        write_output(asked.html, as_html(found, steps).encode())
        written.append(f"{asked.html}: open it in a browser")
    if not asked.json:
        print(*written, sep="\n", end="\n" if written else "")
    return int(bool(causes) or not steps)
