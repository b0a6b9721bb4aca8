"""HVD608: a log file of a script that was single-process is written by rank 0."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.files.writers import own_file
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.reached_code import on_import, only_single
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import keyword

HANDLERS = (
    "logging.FileHandler",
    "logging.handlers.RotatingFileHandler",
    "logging.handlers.TimedRotatingFileHandler",
)
ROOMY = (
    ast.Assign,
    ast.Call,
    ast.keyword,
    ast.List,
    ast.Tuple,
)  # where `x if test else y` needs no parentheses


def check(facts: Facts) -> Iterator[Finding]:
    yield from _handlers(facts)
    for site in facts.calls("logging.basicConfig"):
        names, call, file = site.names, site.node, keyword(site.node, "filename")
        if file is None or not only_single(facts, names) or own_file(facts, names, file):
            continue
        if where_runs(facts, names, call) is not Where.ALL:
            continue
        test, message = (
            f"{horovod_name(facts, names)}.rank() == 0",
            "every rank would write this log; rank 0 writes it",
        )
        if "os" in names.module.names and not on_import(facts, names, call):
            other = f" if {test} else os.devnull"
            yield safe(facts, "HVD608", names, call, message, edits.appended, names.source, file, other)
        else:
            advice = f"give it `filename=... if {test} else os.devnull`, below hvd.init()"
            yield manual("HVD608", names, call, "every rank would write this log", advice)


def _handlers(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(*HANDLERS):
        names, call = site.names, site.node
        if not only_single(facts, names) or where_runs(facts, names, call) is not Where.ALL:
            continue
        if not call.args or own_file(facts, names, call.args[0]):
            continue
        test, message = (
            f"{horovod_name(facts, names)}.rank() == 0",
            "every rank would write this log; rank 0 writes it",
        )
        parent = names.parents[call]
        plain = isinstance(parent, ROOMY) and getattr(parent, "func", None) is not call
        if plain and "logging" in names.module.names and not on_import(facts, names, call):
            other = f" if {test} else logging.NullHandler()"
            yield safe(facts, "HVD608", names, call, message, edits.wrap, names.source, call, "", other)
        else:
            message = "every rank would write this log"
            yield manual(
                "HVD608", names, call, message, f"create this handler where {test}, below hvd.init()"
            )


RULE = Rule(
    id="HVD608",
    title="a log file is written by rank 0",
    what=(
        "Gives the other ranks of a single-process script a logging.NullHandler in place of its "
        "logging.FileHandler, and os.devnull as the file of logging.basicConfig."
    ),
    why="N processes append to the same file: each line appears N times, and lines interleave.",
    safety="Safe: a handler computes nothing, and a NullHandler accepts every call that a FileHandler accepts.",
    check=check,
    changes=(
        Change(
            """\
            import logging
            import torch

            def main(folder):
                logger = logging.getLogger("train")
                handler = logging.FileHandler("%s/train.txt" % folder)
                handler.setLevel(logging.INFO)
                logger.addHandler(handler)
                loss.backward()
                optimizer.step()

            main("runs")
            """,
            """\
            import logging
            import horovod.torch as hvd
            import torch

            def main(folder):
                logger = logging.getLogger("train")
                handler = logging.FileHandler("%s/train.txt" % folder) if hvd.rank() == 0 else logging.NullHandler()
                handler.setLevel(logging.INFO)
                logger.addHandler(handler)
                loss.backward()
                optimizer.step()

            main("runs")
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import logging
            import torch
            import torch.distributed as dist

            dist.init_process_group("nccl")
            logging.getLogger().addHandler(logging.FileHandler("a.txt"))
            """,
            reason="in a DDP script every rank wrote it before",
        ),
    ),
)
