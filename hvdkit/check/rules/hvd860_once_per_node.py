"""HVD860: a checkpoint or log is written once on every node."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import horovod_files
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import suggested
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.files.writers import Writer, writers
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.launch.which_processes import Where
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit

NAMES = ("torch.save", "torch.utils.tensorboard.SummaryWriter", "wandb.init")


def check(facts: Facts) -> Iterator[Finding]:
    files = horovod_files(facts)
    for writer in writers(facts):
        if writer.names in files and writer.name in NAMES and writer.where is Where.ONE_PER_NODE:
            what = writer.name.rpartition(".")[2]
            message = (
                f"{what}() runs once on every node: on a shared disk they write one file at the same time"
            )
            yield suggested(facts, "HVD860", writer.names, writer.node, message, _rank, facts, writer)


def _rank(facts: Facts, writer: Writer) -> Edit:
    names = writer.names
    for parent in names.ancestors(writer.node):
        if isinstance(parent, ast.If):
            for part in ast.walk(parent.test):
                if isinstance(part, ast.Call) and rank_kinds(facts).of(names, part) == {"local_rank"}:
                    if isinstance(part.func, ast.Attribute):
                        hvd = names.source.segment(part.func.value)
                        return edits.replace(names.source, part.func, f"{hvd}.rank")
    raise edits.CannotEdit("the test is elsewhere")


RULE = Rule(
    id="HVD860",
    title="a checkpoint guarded by hvd.local_rank()",
    what="Rank 0 of every node writes. On a shared disk the file is corrupted, or the experiment is logged once per node.",
    why="hvd.local_rank() is 0 once on every node; hvd.rank() is 0 once in the job.",
    safety="Suggested: hvd.rank() in the test. Where every node has its own disk and reads the file back, one per node may be intended.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            if hvd.local_rank() == 0:
                torch.save(model.state_dict(), "model.pt")
            """,
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            if hvd.rank() == 0:
                torch.save(model.state_dict(), "model.pt")
            """,
            suggested=True,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            if hvd.rank() == 0:
                torch.save(model.state_dict(), "model.pt")
            if hvd.local_rank() == 0:
                download()
            """,
            reason="the checkpoint is written once; a download is wanted on each node",
        ),
    ),
)
