"""HVD912: DGL's distributed graphs live in servers that its own launcher starts."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import refused
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding

START = "dgl.distributed.initialize"


def check(facts: Facts) -> Iterator[Finding]:
    for site in facts.calls(START):
        message = (
            f"{START} starts graph servers next to the trainers, which DGL's launcher starts under "
            "torch.distributed: Horovod's launcher starts neither"
        )
        advice = "stay with DGL's launcher, or train on a graph that each rank holds in full"
        yield refused("HVD912", site.names, site.node, message, advice)


RULE = Rule(
    id="HVD912",
    title="distributed graphs of DGL are refused",
    what="Leaves alone programs that call dgl.distributed.initialize.",
    why="The parts of the graph are held by servers, which DGL's launcher starts next to the training processes.",
    safety="Nothing is edited in any file of the program.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import dgl
            import torch

            dgl.distributed.initialize(args.ip_config)
            torch.distributed.init_process_group("gloo")
            graph = dgl.distributed.DistGraph(args.graph_name)
            """,
            reason="only DGL starts the servers that hold the graph's parts",
            reported=True,
        ),
        Keep(
            """\
            import dgl
            import torch

            torch.distributed.init_process_group("nccl")
            loader = dgl.dataloading.DataLoader(graph, indices, sampler, batch_size=1024, use_ddp=False)
            """,
            reason="each rank has the whole graph, and the loader draws the nodes that it is given",
        ),
    ),
)
