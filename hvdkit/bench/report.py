"""How a benchmark is printed, and the same as data."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from hvdkit.bench import figures
from hvdkit.bench.blocks import Spread
from hvdkit.bench.figures import Block
from hvdkit.bench.outlook import Outlook
from hvdkit.bench.recorded import Recorded
from hvdkit.console import show_line

_WIDTH = 60  # columns of a bar
_NAMES = {"horovod": "Horovod", "ddp": "DDP", "one": "one rank"}
# A step's parts: the letter that draws each without colours, and its style.
_PARTS = (("computing", "#", "green"), ("waiting", "w", "yellow"), ("communicating", "-", "cyan"))


def data(what: str, blocks: Sequence[Block], outlook: Outlook | None) -> dict[str, Any]:
    """For --json; times in seconds, sizes in bytes, shares from 0 to 1."""
    horovod = [block["horovod"] for block in blocks]
    first = horovod[0]
    middle = _middle(horovod)
    parts, late = figures.parts_of(middle), figures.late(middle)
    efficiency = figures.efficiency(blocks)
    return {
        "schema": 1,
        "what": what,
        "hosts": first.hosts,
        "device": first.device,
        "controller": first.controller,
        "threads": first.threads,
        "blocks": len(blocks),
        "unit": "samples" if first.samples else "steps",
        "size": first.size,
        "kinds": {kind: _kind(blocks, kind) for kind in blocks[0]},
        "efficiency": efficiency._asdict(),
        "computing": parts.computing,
        "waiting": parts.waiting,
        "communicating": parts.communicating,
        "exchange": middle.alone,
        "overlap": figures.overlap(middle),
        "bandwidth": figures.bandwidth(middle),
        "late": None if late is None else {**vars(late)},
        "ddp": figures.ratio(blocks, "horovod", "ddp")._asdict() if "ddp" in blocks[0] else None,
        "predicted": None if outlook is None else outlook.data(),
    }


def show(found: dict[str, Any]) -> None:
    """For a person: what `data` returns."""
    ranks, unit = len(found["hosts"]), found["unit"]
    hosts = sorted(set(found["hosts"]), key=found["hosts"].index)
    through = f" through {found['controller']}" if ranks > 1 else ""
    show_line(
        f"{found['what']}: {_some(ranks, 'rank')} on {', '.join(hosts)}{through} ({found['device']}, "
        f"{_some(found['threads'], 'thread')} each); {found['size'] / 2**20:.1f} MiB of gradients; "
        f"{_some(found['blocks'], 'block')} of jobs"
    )
    show_line()
    fastest = max(kind["rate"] for kind in found["kinds"].values())
    for name, kind in found["kinds"].items():
        bar = "#" * round(_WIDTH / 2 * kind["rate"] / fastest)
        show_line(
            f"{_NAMES[name]:9}{kind['rate']:10.1f} {unit}/s  step {kind['step'] * 1e3:.1f} ms, "
            f"90 % of them in {kind['low'] * 1e3:.1f} to {kind['high'] * 1e3:.1f}  ",
            (bar, "green"),
        )
    show_line()
    show_line(f"scaling efficiency against one rank: {_spread(found['efficiency'], 100)} %")
    if found["ddp"]:
        show_line(f"a step under Horovod over one under DDP: {_spread(found['ddp'], 1, 2)}")
    if ranks > 1:
        _show_step(found)
    if found["predicted"]:
        _show_predicted(found["predicted"])


def _show_step(found: dict[str, Any]) -> None:
    step = sum(found[name] for name, _, _ in _PARTS)
    bars = [(mark * round(_WIDTH * found[name] / step), style) for name, mark, style in _PARTS]
    show_line()
    show_line("a step  ", *bars)
    shares = (f"{name} {found[name] * 1e3:.1f} ms ({found[name] / step:.0%})" for name, _, _ in _PARTS)
    show_line(f"        {', '.join(shares)}".replace("%", " %"))
    show_line(
        f"all gradients alone: {found['exchange'] * 1e3:.1f} ms, bus bandwidth "
        f"{found['bandwidth'] * 8 / 1e9:.2f} Gbit/s; {100 * found['overlap']:.0f} % of it is hidden "
        "behind the backward pass"
    )
    late = found["late"]
    if late is None:
        show_line("no rank is later than the others in most steps")
    else:
        show_line(
            f"rank {late['rank']} on {late['host']} is the last in {100 * late['often']:.0f} % of the "
            f"steps, by {late['behind'] * 1e3:.1f} ms"
        )


def _show_predicted(found: dict[str, Any]) -> None:
    show_line()
    show_line(f"predicted for {found['ranks']} ranks, not measured:")
    show_line(
        f"  step {found['step'] * 1e3:.1f} ms: computing {found['computing'] * 1e3:.1f}, waiting "
        f"{found['waiting'] * 1e3:.1f}, communicating {found['communicating'] * 1e3:.1f}; efficiency "
        f"{100 * found['efficiency']:.0f} %"
    )
    for line in found["inputs"]:
        show_line(f"  {line}")


def _kind(blocks: Sequence[Block], kind: str) -> dict[str, float]:
    jobs = [block[kind] for block in blocks]
    steps = [figures.step_of(job) for job in jobs]
    return {
        "rate": statistics.median(map(figures.rate, jobs)),
        "step": statistics.median(step.median for step in steps),
        "low": statistics.median(step.low for step in steps),
        "high": statistics.median(step.high for step in steps),
    }


def _middle(jobs: Sequence[Recorded]) -> Recorded:
    """The job whose median step is the median of them, or next above it."""
    return sorted(jobs, key=lambda job: figures.step_of(job).median)[len(jobs) // 2]


def _spread(found: dict[str, float], scale: float, digits: int = 0) -> str:
    spread = Spread(**found)
    low, middle, high = (f"{scale * value:.{digits}f}" for value in spread)
    return f"{middle} ({low} to {high})"


def _some(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
