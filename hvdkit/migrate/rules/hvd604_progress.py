"""HVD604: a single-process script shows one progress bar, and one run of Weights & Biases."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.guards import Where, where_runs
from hvdkit.migrate.facts.training import only_single
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule

BARS = ("tqdm.tqdm", "tqdm.trange", "tqdm.notebook.tqdm", "tqdm.notebook.trange")
RUN = "wandb.init"


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(*BARS, RUN):
        names, call = site.names, site.node
        option = "mode" if site.name == RUN else "disable"
        given = {keyword.arg for keyword in call.keywords}
        if not only_single(facts, names) or {option, None} & given:
            continue
        if where_runs(facts, names, call) is not Where.ALL or names.function(call) is None:
            continue  # at module level Horovod may not have started yet
        hvd = facts.hvd(names)
        if site.name == RUN:
            argument = f'mode=None if {hvd}.rank() == 0 else "disabled"'
            message = "the run is rank 0's; on other ranks its calls do nothing"
        else:
            argument = f"disable={hvd}.rank() != 0"
            message = "the bar is shown by rank 0"
        yield facts.safe("HVD604", names, call, message, edits.add_arguments, names.source, call, [argument])


RULE = Rule(
    id="HVD604",
    title="one progress bar, one run",
    what="Shows tqdm's bars, and starts the wandb run, of a single-process script on rank 0 only.",
    why="N bars write over each other on one terminal, and N runs appear for one training.",
    safety="Safe: neither computes anything, and a disabled bar or run takes the same calls.",
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
            import torch
            from tqdm import tqdm

            def train(loader):
                for x in tqdm(loader, disable=quiet):
                    model(x).backward()
            """,
            reason="the script decides when it is shown",
        ),
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
