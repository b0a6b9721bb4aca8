"""HVD107: command-line options that a launcher filled in are set from Horovod after parsing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.launch_options import Holder
from hvdkit.migrate.facts.launch.launch import launch_of
from hvdkit.migrate.facts.launch.launch_reach import launch_reach
from hvdkit.migrate.facts.launch.launch_settings import FLAG, Setting, settings
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit


def check(facts: Facts) -> Iterator[Finding]:
    by_holder: dict[Holder, list[Setting]] = defaultdict(list)
    for setting in settings(facts, launch_of(facts), launch_reach(facts)):
        option = setting.option
        for holder in setting.holders:
            by_holder[holder].append(setting)
        if not setting.holders:
            message = f"the launcher used to set the option {option.dest}"
            value = "True" if setting.function == FLAG else f"hvd.{setting.function}()"
            advice = (
                f"after the arguments are parsed, set {option.dest} to {value}; horovodrun does not pass it"
            )
            yield manual("HVD107", option.names, option.node, message, advice)
        required = option.required
        if required is not None:
            message = f"horovodrun passes no {option.dest}: the option must not be required"
            yield safe(
                facts,
                "HVD107",
                option.names,
                required,
                message,
                edits.drop_argument,
                option.names.source,
                option.node,
                required,
            )
    for holder, wanted in by_holder.items():
        dests = ", ".join(setting.option.dest for setting in wanted)
        message = f"horovodrun passes no options: {dests} set from Horovod"
        yield safe(facts, "HVD107", holder.names, holder.statement, message, _set, facts, holder, wanted)


def _set(facts: Facts, holder: Holder, wanted: Sequence[Setting]) -> Edit:
    hvd = horovod_name(facts, holder.names)

    def line(setting: Setting) -> str:
        value = "True" if setting.function == FLAG else f"{hvd}.{setting.function}()"
        return f"{holder.variable}.{setting.option.dest} = {value}"

    lines = [line(setting) for setting in wanted if setting.always]
    several = [line(setting) for setting in wanted if not setting.always]
    if several:
        lines += [f"if {hvd}.size() > 1:", *(f"\t{text}" for text in several)]
    verb = edits.after if holder.after else edits.before
    return verb(holder.names.source, holder.statement, lines)


RULE = Rule(
    id="HVD107",
    title="launcher's options are set from Horovod",
    what=(
        "Sets --local_rank, the options that go to init_process_group as rank and world_size, and the "
        "switches that decide whether the launch code runs, right after parse_args."
    ),
    why=(
        "torch.distributed.launch passes --local_rank, and the README asked users to pass --rank, "
        "--world-size and --multiprocessing-distributed. horovodrun passes nothing: every process would use "
        "the defaults."
    ),
    safety=(
        "Safe: every use, in whichever file, gets the value that the launcher passed. A default that "
        "differs from what a single process has, such as -1, stays for a process on its own."
    ),
    check=check,
    changes=(
        Change(
            """\
            import argparse
            import torch
            import torch.distributed as dist

            parser = argparse.ArgumentParser()
            parser.add_argument("--local_rank", type=int, default=0)
            args = parser.parse_args()
            torch.cuda.set_device(args.local_rank)
            dist.init_process_group("nccl")
            """,
            """\
            import argparse
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist

            parser = argparse.ArgumentParser()
            parser.add_argument("--local_rank", type=int, default=0)
            args = parser.parse_args()
            args.local_rank = hvd.local_rank()
            torch.cuda.set_device(args.local_rank)
            dist.init_process_group("nccl")
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import argparse
            import os
            import torch.distributed as dist

            parser = argparse.ArgumentParser()
            parser.add_argument("--local_rank", default=os.getenv("LOCAL_RANK", 0), type=int)
            args = parser.parse_args()
            dist.init_process_group("nccl")
            print(args.local_rank)
            """,
            reason="the default is the launcher's variable, which has its own rule",
        ),
    ),
)
