"""HVD604: a single-process script shows one progress bar, and one run of Weights & Biases."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.reached_code import after_start, only_single
from hvdkit.migrate.facts.programs.tensorflow_programs import migrating_files
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.starting import runs_started
from hvdkit.migrate.values.arguments import keyword
from hvdkit.source.edits import Edit

BARS = ("tqdm.tqdm", "tqdm.trange", "tqdm.notebook.tqdm", "tqdm.notebook.trange")
RUN = "wandb.init"


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(*BARS, RUN):
        names, call = site.names, site.node
        alone = only_single(facts, names) or names in migrating_files(facts)
        if not alone or where_runs(facts, names, call) is not Where.ALL:
            continue
        has_started = after_start if only_single(facts, names) else runs_started
        if not has_started(facts, names, call):
            continue
        option = "mode" if site.name == RUN else "disable"
        if any(item.arg is None for item in call.keywords):
            if site.name == RUN:
                advice = f'add mode="disabled" to what ** passes where {horovod_name(facts, names)}.rank() is not 0'
                yield manual("HVD604", names, call, "every rank would start a run", advice)
        elif not rank_kinds(facts).inside(names, given := keyword(call, option) or call.func, "rank"):
            message = (
                "the run is rank 0's; on other ranks its calls do nothing"
                if site.name == RUN
                else "the bar is shown by rank 0"
            )
            make = (_option, facts, site, option, given)
            yield safe(facts, "HVD604", names, call, message, *make)


def _option(facts: Facts, site: Site, option: str, given: ast.expr) -> Edit:
    """What is given for an option on rank 0, if anything, and what turns the others off."""
    source, hvd = site.names.source, horovod_name(facts, site.names)
    written = "" if given is site.node.func else source.segment(given)
    if isinstance(given, (ast.IfExp, ast.BoolOp, ast.Lambda, ast.NamedExpr)):
        written = f"({written})"
    if option == "mode":
        text = f'{written or None} if {hvd}.rank() == 0 else "disabled"'
    else:
        text = f"{written} or {hvd}.rank() != 0" if written else f"{hvd}.rank() != 0"
    if written:
        return edits.replace(source, given, text)
    return edits.add_arguments(source, site.node, [f"{option}={text}"])


RULE = Rule(
    id="HVD604",
    title="one progress bar, one run",
    what="Shows tqdm's bars, and starts the wandb run, of a single-process script on rank 0 only.",
    why="N bars write over each other on one terminal, and N runs appear for one training.",
    safety="Safe: neither computes anything, and a disabled bar or run accepts the same calls.",
    check=check,
    changes=(
        Change(
            """\
            import torch
            import wandb
            from tqdm import tqdm

            def train(loader):
                wandb.init(project="digits")
                for x in tqdm(loader, desc="train"):
                    model(x).backward()
                    optimizer.step()
                    wandb.log({"loss": 1})
            """,
            """\
            import horovod.torch as hvd
            import torch
            import wandb
            from tqdm import tqdm

            def train(loader):
                wandb.init(project="digits", mode=None if hvd.rank() == 0 else "disabled")
                for x in tqdm(loader, desc="train", disable=hvd.rank() != 0):
                    model(x).backward()
                    optimizer.step()
                    wandb.log({"loss": 1})
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch.distributed as dist
            from tqdm import tqdm

            def train(loader):
                dist.init_process_group("gloo")
                for x in tqdm(loader):
                    model(x).backward()
            """,
            reason="a DDP script shows its bars as it did",
        ),
    ),
)
