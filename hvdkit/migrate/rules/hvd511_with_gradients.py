"""HVD511: torch.distributed.nn's all_reduce and all_gather, which pass gradients on, become Horovod's."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.collectives.collectives import reduction
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rewrites.collectives import fresh, same_again

PREFIX = "torch.distributed.nn."
NO_COLLECTIVES = ("api.", "jit.", "RemoteModule")
ADVICE = (
    "write hvd.allreduce(tensor, op=hvd.Sum), which sums the gradients, too, or hvd.allgather, which "
    "averages them in the backward pass where torch sums"
)


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(PREFIX):
        name = site.name.removeprefix(PREFIX).removeprefix("functional.")
        given = {keyword.arg: keyword.value for keyword in site.node.keywords}
        alone = len(site.node.args) == 1 and {*given} <= {"op"}
        if (
            name == "all_reduce"
            and alone
            and reduction(facts, site.names, given.get("op")) in ("Sum", "Average")
        ):
            message = "this all_reduce also sums gradients in the backward pass, as hvd.allreduce does"
            yield safe(facts, "HVD511", site.names, site.node, message, _reduced, facts, site, "op" in given)
        elif name == "all_gather" and alone and same_again(site.node.args[0]):
            message = (
                "this all_gather sums gradients in the backward pass, as does a sum to which each rank "
                "contributes its row"
            )
            yield safe(facts, "HVD511", site.names, site.node, message, _gathered, facts, site)
        elif not name.startswith(NO_COLLECTIVES):
            message = f"{name} passes gradients through the collective"
            yield manual("HVD511", site.names, site.node, message, ADVICE)


def _reduced(facts: Facts, site: Site, told: bool) -> list[Edit]:
    """A reduction that is written out is HVD501's to rename; torch's default is the sum."""
    source, hvd = site.names.source, horovod_name(facts, site.names)
    made = [edits.replace(source, site.node.func, f"{hvd}.allreduce")]
    return made if told else [*made, edits.add_arguments(source, site.node, [f"op={hvd}.Sum"])]


def _gathered(facts: Facts, site: Site) -> Edit:
    names, hvd = site.names, horovod_name(facts, site.names)
    mine, rank = names.source.segment(site.node.args[0]), fresh(names, "rank")
    rows = (
        f"[{mine} if {rank} == {hvd}.rank() else torch.zeros_like({mine}) for {rank} in range({hvd}.size())]"
    )
    return edits.replace(
        names.source, site.node, f"{hvd}.allreduce(torch.stack({rows}), op={hvd}.Sum).unbind()"
    )


RULE = Rule(
    id="HVD511",
    title="collectives that pass gradients back",
    what=(
        "Replaces torch.distributed.nn's all_reduce by hvd.allreduce, and its all_gather by a sum over "
        "ranks of rows that are zero except for the rank's own. The others are reported."
    ),
    why=(
        "Contrastive losses send gradients back through the gather. torch sums over the ranks there; "
        "hvd.allgather averages, which would make that part of the gradient N times too small. "
        "hvd.allreduce sums both ways."
    ),
    safety=(
        "Safe: the same values and gradients on every rank. The sum sends more than a gather would: N rows "
        "from each rank, which for the features of a batch is little. A group of ranks is left to you."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from torch.distributed.nn import all_gather, all_reduce

            everyone = torch.cat(all_gather(features), dim=0)
            total = all_reduce(loss)
            """,
            """\
            import horovod.torch as hvd
            import torch

            everyone = torch.cat(hvd.allreduce(torch.stack([features if rank == hvd.rank() else torch.zeros_like(features) \
for rank in range(hvd.size())]), op=hvd.Sum).unbind(), dim=0)
            total = hvd.allreduce(loss, op=hvd.Sum)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            from torch.distributed.nn.api.remote_module import RemoteModule

            module = RemoteModule("worker1/cpu", torch.nn.Linear, args=(2, 3))
            """,
            reason="no collective",
        ),
    ),
)
