"""HVD907: a program that trains with torch.distributed and makes no process group in any file that is seen."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import refused
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.loops import backward_calls
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values import vocabulary as words

ADVICE = (
    "pass hvdkit the file that calls init_process_group, too; where a library calls it, call it in your own "
    "code; a script that always runs as a single process does not need torch.distributed: remove it"
)


def check(facts: Facts) -> Iterator[Finding]:
    starting = {site.names for site in facts.calls(words.INIT, *words.HVD_INIT)}
    training = {names for names, _ in backward_calls(facts)}
    used = facts.calls(*words.DDP, "torch.distributed.")
    for program in programs_of(facts):
        if program.kind != "ddp" or program.files & starting:
            continue
        # Beside programs that start ranks, a script that only borrows their helpers is none of them.
        own = {program.entry} if starting else program.files
        site = next((site for site in used if site.names in own), None)
        if site is not None and own & training:
            message = (
                "no process group is created in the files that hvdkit reads: how the ranks start is not known"
            )
            yield refused("HVD907", site.names, site.node, message, ADVICE)


RULE = Rule(
    id="HVD907",
    title="no process group is created",
    what="Refuses programs that train, use torch.distributed or DDP, and never call init_process_group.",
    why=(
        "hvd.init() replaces the creation of the process group. Without one, DDP raises; so a file that "
        "hvdkit was not given creates it, or a library, or the script always runs as a single process."
    ),
    safety="Nothing is rewritten: only the author knows where, and whether, the process group is created.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            model(x).sum().backward()
            """,
            reason="DDP would raise here, so the code that creates the process group is not in these files",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist

            def mean(x):
                return x if not dist.is_initialized() else x / dist.get_world_size()
            """,
            reason="nothing is trained here: the code that creates the process group calls this helper",
        ),
    ),
)
