"""HVD302: the training loader of a single-process script gives each rank its own share."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import manual, needed, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.computed_over_data import counting_loops
from hvdkit.migrate.facts.data.loaders import every_loader
from hvdkit.migrate.facts.data.sharding import is_sharded
from hvdkit.migrate.facts.data.shares_by_hand import drawn_whole
from hvdkit.migrate.facts.data.training_loaders import is_trained_on
from hvdkit.migrate.facts.programs.reached_code import only_single
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.graph_samples import is_of_graph
from hvdkit.migrate.rewrites.samplers import in_groups, sampler_edits, unshardable

ADVICE = (
    "give each rank its own share of the data that it trains on, by hvd.rank() and hvd.size(), and leave "
    "whole what evaluates"
)

COUNTING = (
    "compute this from a separate loader over all of the data, without the sampler, or sum it over the "
    "ranks with hvd.allreduce(..., op=hvd.Sum)"
)


def check(facts: Facts) -> Iterator[Finding]:
    shared = []
    for loader in every_loader(facts):
        if not is_trained_on(facts, loader) or is_sharded(facts, loader):
            continue
        names, node = loader.names, loader.node
        message = "each rank draws its own share of the training data"
        problem = unshardable(facts, loader)
        if not only_single(facts, names):
            if not problem and not is_of_graph(loader) and drawn_whole(facts, loader):
                yield needed(facts, "HVD302", names, node, message, sampler_edits, facts, loader)
        elif problem:
            message = f"the training data must be sharded, but {problem}"
            yield manual("HVD302", names, node, message, ADVICE)
        else:
            shared.append(loader.value)
            # That the groups make as many batches on each rank, only their class knows.
            make = needed if in_groups(facts, loader) else safe
            yield make(facts, "HVD302", names, node, message, sampler_edits, facts, loader)
    for names, loop in counting_loops(facts, shared):
        message = "this sums over the training loader, which now yields only this rank's share"
        yield manual("HVD302", names, loop, message, COUNTING)


RULE = Rule(
    id="HVD302",
    title="the training loader is sharded",
    what=(
        "Gives the DataLoader that a training loop runs over a DistributedSampler; shuffle moves to the "
        "sampler. PyTorch Geometric's loaders of parts of one graph get one over the nodes or edges that "
        "they draw from."
    ),
    why="Without it every rank trains on all of the data: N times the work for the same epochs.",
    safety=(
        "Safe: the batch size per process stays, shuffling stays on or off as it was. Loaders that only "
        "evaluate are left alone: every rank sees all of their data and gets the same result. A loop that "
        "sums something over the training data itself, such as class weights, is reported. In a script that "
        "is already distributed but splits nothing by rank, it is applied only with --suggested: an epoch "
        "becomes N times shorter."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from torch_geometric.loader import LinkNeighborLoader, NeighborLoader, RandomNodeLoader

            parts = RandomNodeLoader(data, num_parts=10, shuffle=True)
            nodes = NeighborLoader(data, input_nodes=data.train_mask, num_neighbors=[10])
            users = NeighborLoader(many, input_nodes="user", num_neighbors=[10])
            links = LinkNeighborLoader(many, [5], edge_label_index=(("user", "paper"), edges[:, order]), shuffle=True)
            for batch in (*parts, *nodes, *users, *links):
                model(batch).sum().backward()
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch_geometric.loader import LinkNeighborLoader, NeighborLoader, RandomNodeLoader
            from torch.utils.data.distributed import DistributedSampler

            parts_sampler = DistributedSampler(
                range(data.num_nodes), num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True
            )
            parts = RandomNodeLoader(data, num_parts=10, sampler=parts_sampler)
            nodes_sampler = DistributedSampler(
                torch.arange(data.num_nodes)[data.train_mask], num_replicas=hvd.size(), rank=hvd.rank(), shuffle=False
            )
            nodes = NeighborLoader(data, input_nodes=data.train_mask, num_neighbors=[10], sampler=nodes_sampler)
            users_sampler = DistributedSampler(
                range(many["user"].num_nodes), num_replicas=hvd.size(), rank=hvd.rank(), shuffle=False
            )
            users = NeighborLoader(many, input_nodes="user", num_neighbors=[10], sampler=users_sampler)
            links_sampler = DistributedSampler(
                range(edges[:, order].size(1)), num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True
            )
            links = LinkNeighborLoader(many, [5], edge_label_index=(("user", "paper"), edges[:, order]), sampler=links_sampler)
            for batch in (*parts, *nodes, *users, *links):
                model(batch).sum().backward()
                optimizer.step()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            from torch.utils.data import DataLoader, SequentialSampler

            def importance(model, mask, data):
                found = 0
                for x in DataLoader(data, sampler=SequentialSampler(data), batch_size=8):
                    model(x * mask).sum().backward()
                    found += mask.grad.abs()
                return found

            optimizer = torch.optim.Adam(model.parameters())
            prune(model, importance(model, mask, data))
            for x in batches:
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="nothing is trained in that loop: each rank would prune by its own share of the data",
        ),
    ),
)
