"""HVD305: a random split of the data is the same on every rank."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.splits import (
    GENERATOR,
    can_write,
    unseeded_orders,
    unseeded_shuffles,
    unseeded_splits,
)
from hvdkit.migrate.facts.data.training import training_paths
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    for program in facts.programs:
        if program.kind not in ("single", "ddp") or not training_paths(facts, program):
            continue
        for site, text in unseeded_splits(facts, program):
            message = "each rank would split the data its own way: what one validates on, another trains on"
            if can_write(site, text):
                make = (edits.add_arguments, site.names.source, site.node, [text])
                yield facts.suggested("HVD305", site.names, site.node, message, *make)
            else:
                yield facts.manual("HVD305", site.names, site.node, message, f"pass {text}")
        message = "each rank would shuffle the data its own way: what one tests on, another trains on"
        for names, call in unseeded_shuffles(facts, program):
            line = "torch.manual_seed(0)"
            if "torch" in names.module.names:
                statement = names.statement(call)
                make_line = (edits.before, names.source, statement, [line])
                yield facts.suggested("HVD305", names, call, message, *make_line)
            else:
                yield facts.manual("HVD305", names, call, message, f"call {line} above it")
        for site in unseeded_orders(facts, program):
            on_device = any(keyword.arg == "device" for keyword in site.node.keywords)
            if site.name == "torch.randperm" and not on_device and can_write(site, GENERATOR):
                make = (edits.add_arguments, site.names.source, site.node, [GENERATOR])
                yield facts.suggested("HVD305", site.names, site.node, message, *make)
            else:
                advice = "draw it by a generator that has the same seed on all ranks"
                yield facts.manual("HVD305", site.names, site.node, message, advice)


RULE = Rule(
    id="HVD305",
    title="a random split is the same on every rank",
    what=(
        "Gives train_test_split and random_split a fixed seed in a program that sets none, and sets one above the "
        "shuffle() of a dataset of PyTorch Geometric, and above its random splits of a graph. A torch.randperm() that is cut in two gets one as well."
    ),
    why=(
        "Each rank is a process with random numbers of its own: it would hold back other samples than the rest, "
        "and the validation score would be that of data the model has seen."
    ),
    safety=(
        "Suggested: the split was another one in each run, and is the same in all of them then. A program that "
        "sets any seed is left alone."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from sklearn.model_selection import train_test_split

            train, test = train_test_split(data, test_size=0.1)
            for x in torch.utils.data.DataLoader(train):
                model(x).sum().backward()
                optimizer.step()
            """,
            """\
            import torch
            from sklearn.model_selection import train_test_split

            train, test = train_test_split(data, test_size=0.1, random_state=0)
            for x in torch.utils.data.DataLoader(train):
                model(x).sum().backward()
                optimizer.step()
            """,
            suggested=True,
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist
            from torch.utils.data import random_split

            dist.init_process_group("gloo")
            train, test = random_split(data, [90, 10])
            for x in train:
                model(x).sum().backward()
            """,
            """\
            import torch
            import torch.distributed as dist
            from torch.utils.data import random_split

            dist.init_process_group("gloo")
            train, test = random_split(data, [90, 10], generator=torch.Generator().manual_seed(0))
            for x in train:
                model(x).sum().backward()
            """,
            note="A DDP script has the same fault before.",
            suggested=True,
        ),
        Change(
            """\
            import torch
            from torch_geometric.datasets import TUDataset
            from torch_geometric.loader import DataLoader

            dataset = TUDataset("data", name="MUTAG").shuffle()
            for x in DataLoader(dataset[:150]):
                model(x).sum().backward()
                optimizer.step()
            """,
            """\
            import torch
            from torch_geometric.datasets import TUDataset
            from torch_geometric.loader import DataLoader

            torch.manual_seed(0)
            dataset = TUDataset("data", name="MUTAG").shuffle()
            for x in DataLoader(dataset[:150]):
                model(x).sum().backward()
                optimizer.step()
            """,
            note="What is held back is a part of what is shuffled.",
            suggested=True,
        ),
        Change(
            """\
            import torch
            import torch_geometric.transforms as T
            from torch_geometric.datasets import Planetoid

            split = T.Compose([T.NormalizeFeatures(), T.RandomLinkSplit(num_val=0.05, num_test=0.1)])
            train, val, test = Planetoid("data", "Cora", transform=split)[0]
            for epoch in range(100):
                model.recon_loss(model.encode(train.x, train.edge_index), train.pos_edge_label_index).backward()
                optimizer.step()
            """,
            """\
            import torch
            import torch_geometric.transforms as T
            from torch_geometric.datasets import Planetoid

            torch.manual_seed(0)
            split = T.Compose([T.NormalizeFeatures(), T.RandomLinkSplit(num_val=0.05, num_test=0.1)])
            train, val, test = Planetoid("data", "Cora", transform=split)[0]
            for epoch in range(100):
                model.recon_loss(model.encode(train.x, train.edge_index), train.pos_edge_label_index).backward()
                optimizer.step()
            """,
            note="The edges that one rank tests on, another would have trained on.",
            suggested=True,
        ),
        Change(
            """\
            import torch

            order = torch.randperm(len(data))
            train, test = data[order[:90]], data[order[90:]]
            for x in torch.utils.data.DataLoader(train):
                model(x).sum().backward()
                optimizer.step()
            """,
            """\
            import torch

            order = torch.randperm(len(data), generator=torch.Generator().manual_seed(0))
            train, test = data[order[:90]], data[order[90:]]
            for x in torch.utils.data.DataLoader(train):
                model(x).sum().backward()
                optimizer.step()
            """,
            note="A split by hand.",
            suggested=True,
        ),
    ),
    keeps=(
        Keep(
            """\
            import numpy as np
            import torch

            order = np.random.permutation(100)
            train, test = data[order[:90]], data[order[90:]]
            for epoch in range(3):
                mixed = torch.randperm(90)
                for i in range(0, 90, 10):
                    model(train[mixed[i:i + 10]]).sum().backward()
                    optimizer.step()
            """,
            reason="numpy has no generator beside its own seed; the order of an epoch is no split",
            reported=True,
            suggested=True,
        ),
        Keep(
            """\
            import torch
            from sklearn.model_selection import train_test_split

            torch.manual_seed(1)
            train, test = train_test_split(data)
            for x in torch.utils.data.DataLoader(train):
                model(x).sum().backward()
            """,
            reason="a seed is set",
        ),
        Keep(
            """\
            from sklearn.model_selection import train_test_split
            from torch.utils.data import DataLoader, random_split

            train, test = train_test_split(data, random_state=4)
            for x in DataLoader(train):
                model(x).sum().backward()
            """,
            reason="the split has a seed of its own",
        ),
        Keep(
            """\
            from torch.utils.data import DataLoader, random_split

            train, test = random_split(data, [90, 10])
            for x in DataLoader(train):
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="the seed's generator is torch's, which has no name in this file",
            reported=True,
        ),
        Keep(
            """\
            from sklearn.model_selection import train_test_split

            train, test = train_test_split(data)
            print(len(train))
            """,
            reason="nothing is trained here",
        ),
    ),
)
