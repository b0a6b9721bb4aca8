"""HVD002: rank, size and their like, called or passed on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.horovod_names import horovod_names
from hvdkit.migrate.facts.optimizers.horovod_wraps import called, short
from hvdkit.migrate.index.names import Names
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.ddp_helpers import with_dist
from hvdkit.migrate.rewrites.ddp_names import CALLS, NAMES
from hvdkit.migrate.values import vocabulary as words

QUOTE = re.compile("[\"']")


def check(facts: Facts) -> Iterator[Finding]:
    for site in called(facts, *CALLS, modules=words.HOROVOD):
        if site.node.args or site.node.keywords:
            continue  # of a process set: HVD009
        text = _quoted(site.names, site.node, with_dist(site.names, CALLS[short(site)]))
        message = f"{short(site)}() becomes {text}"
        yield safe(
            facts, "HVD002", site.names, site.node, message, edits.replace, site.names.source, site.node, text
        )
    for names, node, name in horovod_names(facts):
        if name in NAMES and not isinstance(names.parents[node], ast.Attribute):
            text = with_dist(names, NAMES[name])
            message = f"{name} becomes {text}"
            yield safe(facts, "HVD002", names, node, message, edits.replace, names.source, node, text)


def _quoted(names: Names, node: ast.AST, text: str) -> str:
    """The text with other quotes than those of a string that it is part of: `f"rank {hvd.local_rank()}"`."""
    around = [parent for parent in names.ancestors(node) if isinstance(parent, ast.JoinedStr)]
    double = any(QUOTE.findall(names.source.segment(each))[:1] == ['"'] for each in around)
    return text.replace('"', "'") if double else text


RULE = Rule(
    id="HVD002",
    title="Ranks and sizes of torchrun",
    what="Replaces hvd.rank(), hvd.size(), hvd.local_rank() and their like by torch.distributed and by the "
    "variables that torchrun sets, and hvd.Compression by a hook of DDP.",
    why="The processes of the job are torchrun's.",
    safety="Safe: the same numbers. Without a launcher they are those of one process.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            torch.cuda.set_device(hvd.local_rank())
            if hvd.rank() == 0:
                print(hvd.size())
            """,
            """\
            import torch
            import os
            import torch.distributed as dist

            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
            if dist.get_rank() == 0:
                print(dist.get_world_size())
            """,
            target="ddp",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch.distributed as dist

            print(dist.get_rank())
            """,
            reason="no call of Horovod",
        ),
    ),
)
