"""`hvdkit bench`: how fast a model trains on these hosts, and what its steps are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hvdkit import interpreter, reports
from hvdkit.arguments import CommandParser, parsed
from hvdkit.bench import targets
from hvdkit.errors import UsageError
from hvdkit.hosts.lists import HostList
from hvdkit.launch import options
from hvdkit.verify.options import split_arguments

if TYPE_CHECKING:
    from hvdkit.bench.figures import Block
    from hvdkit.bench.job import Ground
    from hvdkit.doctor.allreduce import Measured
    from hvdkit.launch.tuned import Setting

EXAMPLES = """\
hvdkit bench                                 a small transformer on two ranks of this machine
hvdkit bench resnet18 -H a:4,b:4             on two hosts; DDP on the same hosts is next to it
hvdkit bench train.py -H a:2,b:2 -- --lr 0.1   the first steps of a Horovod script with its arguments
hvdkit bench train.py --ddp train_ddp.py     next to the DDP script that it was migrated from
hvdkit bench --tuned hvdkit-tune.toml        with the settings that hvdkit tune has found
hvdkit bench mlp -H a:4,b:4 --predict 512    what 512 ranks would bring, by a model of the step
hvdkit bench --png=bench.png --json          a picture, and the figures as JSON
"""
EXITS = {"0": "it was measured", "2": "a job could not be started, or failed"}
NOTE = (
    "Each block starts a job under Horovod, one under DDP and one of a single rank, in turns; ratios are\n"
    "taken within a block. What follows `--` is passed to the script.\n"
    "The paths for GPUs have not been run on a GPU yet."
)


def parser() -> CommandParser:
    """The arguments of the command."""
    from hvdkit.bench import job

    made = CommandParser(
        "bench",
        "Measure a training on these hosts: its speed, its scaling, and where the time of a step is.",
        EXAMPLES,
        EXITS,
        NOTE,
    )
    targets.add_target(made)
    job.add_options(made)
    options.add_setting(made)
    made.add_argument("--blocks", type=int, default=5, metavar="N", help="blocks of jobs (default 5)")
    made.add_argument(
        "--steps", type=int, default=45, metavar="N", help="steps of a job, after 5 to warm up (default 45)"
    )
    made.add_argument("--ddp", metavar="SCRIPT", help="the script for DDP that a script is compared with")
    made.add_argument("--predict", type=int, metavar="N", help="also predict a step of N ranks")
    reports.add_reports(made, {"--png": "a picture", "--json": "the figures as JSON"})
    return made


def main(argv: Sequence[str]) -> int:
    """Run `hvdkit bench`. Raises: HvdkitError."""
    own, arguments = split_arguments(list(argv[1:]))
    asked = parsed(parser(), own)
    what = [asked.what, *arguments]
    if asked.blocks < 1 or asked.steps < 1:
        raise UsageError(f"--blocks {asked.blocks} --steps {asked.steps}", fix="1 or more of each")
    targets.check_target(what, asked.ddp)
    wanted = options.setting(asked)
    from hvdkit.bench import job, plot, report

    if asked.png is not None:
        plot.check(asked.png)
    ground = job.prepare(asked, targets.say)
    if asked.predict is not None and not ground.ranks < asked.predict:
        raise UsageError(f"--predict {asked.predict} from {ground.ranks} ranks", fix="predict more ranks")
    if asked.predict is not None and ground.ranks < 2:
        raise UsageError("--predict needs a measurement of two ranks or more", fix="hvdkit bench -np 2 ...")
    setting = replace(wanted, variables={**job.threads_for(ground), **wanted.variables})
    blocks = measure(ground, setting, what, asked.ddp, asked.blocks, asked.steps)
    outlook = None
    if asked.predict is not None:
        from hvdkit.bench.outlook import outlook as fitted

        outlook = fitted(blocks, exchanges(ground, setting), asked.predict)
    found = report.data(what[0], blocks, outlook)
    if asked.png is not None:
        reports.put(asked.png, plot.drawn(found))
    if asked.json is not None:
        reports.put_json(asked.json, found)
    if reports.STDOUT not in (asked.png, asked.json):
        report.show(found)
    return 0


def measure(
    ground: Ground, setting: Setting, what: Sequence[str], ddp: str | None, blocks: int, steps: int
) -> list[Block]:
    """Blocks of one job of each kind, in turns."""
    from hvdkit.bench import figures, job
    from hvdkit.bench.blocks import orders

    jobs = {"horovod": what, "one": what}
    if ground.ranks > 1 and (what[0] in targets.BUILT_IN or ddp):
        jobs["ddp"] = what if ddp is None else [ddp, *what[1:]]
    found: list[Block] = []
    for number, order in enumerate(orders(["horovod", *sorted({*jobs} - {"horovod"})], blocks), 1):
        block = {}
        for kind in order:
            targets.say(f"block {number} of {blocks}: {kind}")
            block[kind] = job.run(ground, kind, steps, jobs[kind], setting)
            targets.say(f"  {figures.step_of(block[kind]).median * 1e3:.1f} ms a step")
        found.append({kind: block[kind] for kind in jobs})
    return found


def exchanges(ground: Ground, setting: Setting) -> list[Measured]:
    """Allreduces of several sizes, among two ranks, on two hosts where there are two, and among all: they
    differ by their hops, not by the network.
    """
    from hvdkit.bench import job
    from hvdkit.doctor import allreduce

    command = interpreter.module("hvdkit.doctor.allreduce")
    found = []
    pair = HostList(tuple(replace(host, slots=1) for host in ground.used.hosts[:2]))
    two = replace(ground, ranks=2, named=pair if pair.slots == 2 else ground.named)
    for placed in [two, *([ground] if ground.ranks > 2 else [])]:
        targets.say(f"allreduces among {placed.ranks} ranks")
        found += allreduce.find(job.run_command(placed, "horovod", command, setting))
    return found
