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
from hvdkit.migrate.facts.facts import Site
from hvdkit.migrate.facts.optimizers.horovod_wraps import called, short
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.ddp_helpers import with_dist
from hvdkit.migrate.rewrites.ddp_names import CALLS, NAMES
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

QUOTE = re.compile("[\"']")
DEFAULTS = {"num_replicas": "size", "rank": "rank"}  # of torch's DistributedSampler


def check(facts: Facts) -> Iterator[Finding]:
    gone: set[ast.expr] = set()
    for sampler in facts.calls(words.SAMPLER):
        numbers, edit = _without_defaults(facts, sampler)
        if edit is not None:
            gone.update(numbers)
            message = "the ranks of torch.distributed are the sampler's defaults"
            yield safe(facts, "HVD002", sampler.names, sampler.node, message, (edit,))
    for site in called(facts, *CALLS, modules=words.HOROVOD):
        if site.node in gone or site.node.args or site.node.keywords:
            continue  # with arguments they are of a process set: HVD009
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


def _without_defaults(facts: Facts, sampler: Site) -> tuple[list[ast.expr], Edit | None]:
    """The numbers that a sampler would take by itself, and the edit that drops them."""
    call, source = sampler.node, sampler.names.source
    numbers: dict[ast.expr, str] = {
        site.node: short(site) for site in called(facts, *DEFAULTS.values(), modules=words.HOROVOD)
    }
    items = sorted([*call.args, *call.keywords], key=source.start)
    given = [
        place
        for place, item in enumerate(items)
        if isinstance(item, ast.keyword) and numbers.get(item.value) == DEFAULTS.get(item.arg or "", "")
    ]
    if not given or given[0] == 0 or given[-1] - given[0] + 1 != len(given):
        return [], None
    start, end = source.end(items[given[0] - 1]), source.end(items[given[-1]])
    if "#" in source.text[start:end]:
        return [], None
    return [item.value for item in call.keywords if item in items[given[0] : given[-1] + 1]], Edit(
        start, end, ""
    )


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
    safety="Safe: the same numbers. Without a launcher they are those of one process. A DistributedSampler is given "
    "none: they are its defaults.",
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
