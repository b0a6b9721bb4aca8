"""HVD302: the training loader of a single-process script gives each rank its own share."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.counted import counting_loops
from hvdkit.migrate.facts.data.shares import drawn_whole
from hvdkit.migrate.facts.data.training import only_single
from hvdkit.migrate.graph_samples import is_of_graph
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule
from hvdkit.migrate.sampler_edits import in_groups, sampler_edits, unshardable

ADVICE = (
    "give each rank its own share of the data that it trains on, by hvd.rank() and hvd.size(), and leave whole what "
    "evaluates"
)

COUNTING = (
    "compute this from a loader of its own over all of the data, without the sampler, or add it up over the ranks by "
    "hvd.allreduce(..., op=hvd.Sum)"
)


def check(facts: Facts) -> Iterator[Finding]:
    shared = []
    for loader in facts.loaders:
        if not facts.training(loader) or facts.sharded(loader):
            continue
        names, node = loader.names, loader.node
        message = "each rank draws its own share of the training data"
        problem = unshardable(facts, loader)
        if not only_single(facts, names):
            if not problem and not is_of_graph(loader) and drawn_whole(facts, loader):
                yield facts.suggested("HVD302", names, node, message, sampler_edits, facts, loader)
        elif problem:
            message = f"the training data must be sharded, but {problem}"
            yield facts.manual("HVD302", names, node, message, ADVICE)
        else:
            shared.append(loader.value)
            # That the groups make as many batches on each rank, only their class knows.
            make = facts.suggested if in_groups(facts, loader) else facts.safe
            yield make("HVD302", names, node, message, sampler_edits, facts, loader)
    for names, loop in counting_loops(facts, shared):
        message = "this adds up what the training loader gives, which is each rank's own share now"
        yield facts.manual("HVD302", names, loop, message, COUNTING)


RULE = Rule(
    id="HVD302",
    title="the training loader is sharded",
    what=(
        "Gives the DataLoader that a training loop runs over a DistributedSampler; shuffle moves into it. PyTorch "
        "Geometric's loaders of parts of one graph get one over the nodes or edges that they draw from."
    ),
    why="Without it every rank trains on all of the data: N times the work for the same epochs.",
    safety=(
        "Safe: the batch size per process stays, shuffling stays on or off as it was. Loaders that only "
        "evaluate are left alone: every rank sees all of their data and gets the same result. A loop that adds up "
        "something of the training data itself, such as class weights, is told. In a script that is "
        "distributed already, and shares nothing out by rank, it is suggested: an epoch is N times shorter."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from ignite.engine import Engine

            def update(engine, batch):
                optimizer.zero_grad()
                loss = model(batch).sum()
                loss.backward()
                optimizer.step()
                return loss.item()

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            batches = torch.utils.data.DataLoader(data, batch_size=4)
            trainer = Engine(update)
            trainer.run(batches, max_epochs=3)
            """,
            """\
            import horovod.torch as hvd
            import torch
            from ignite.engine import Engine
            from torch.utils.data.distributed import DistributedSampler

            def update(engine, batch):
                optimizer.zero_grad()
                loss = model(batch).sum()
                loss.backward()
                optimizer.step()
                return loss.item()

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            batches_sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=False)
            batches = torch.utils.data.DataLoader(data, batch_size=4, sampler=batches_sampler)
            trainer = Engine(update)
            trainer.run(batches, max_epochs=3)
            """,
            note="An engine of ignite's calls the function for each batch.",
        ),
        Change(
            """\
            import torch
            from torch.utils.data import DataLoader

            loader = DataLoader(data, shuffle=True)
            batches = iter(loader)
            for step in range(100):
                try:
                    x = batches.next()
                except StopIteration:
                    batches = iter(loader)
                    x = batches.next()
                model(x).sum().backward()
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch.utils.data import DataLoader
            from torch.utils.data.distributed import DistributedSampler

            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
            loader = DataLoader(data, sampler=sampler)
            batches = iter(loader)
            for step in range(100):
                try:
                    x = batches.next()
                except StopIteration:
                    batches = iter(loader)
                    x = batches.next()
                model(x).sum().backward()
                optimizer.step()
            """,
            note="Batches that are asked for one by one: `it.next()` is `next(it)` of older versions of torch.",
        ),
        Change(
            """\
            import data.scans
            from torch.utils.data import DataLoader

            more = DataLoader(extra, shuffle=True, sampler=None)
            for x in data.scans.Scans().loader:
                model(x).sum().backward()
                optimizer.step()
            for x in more:
                model(x).sum().backward()
            """,
            """\
            import data.scans
            import horovod.torch as hvd
            from torch.utils.data import DataLoader
            from torch.utils.data.distributed import DistributedSampler

            more_sampler = DistributedSampler(extra, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
            more = DataLoader(extra, shuffle=False, sampler=more_sampler)
            for x in data.scans.Scans().loader:
                model(x).sum().backward()
                optimizer.step()
            for x in more:
                model(x).sum().backward()
            """,
            note="A place for a sampler that is None; and a loader in a folder that is a package without an __init__.py.",
            files=(
                (
                    "data/scans.py",
                    "from torch.utils.data import DataLoader\n\n\nclass Scans:\n    def __init__(self):\n"
                    "        self.loader = DataLoader(files, shuffle=True, sampler=None)\n",
                ),
            ),
        ),
        Change(
            """\
            from torch.utils.data import BatchSampler, DataLoader, RandomSampler

            class Grouped(BatchSampler):
                def __init__(self, sampler, groups, batch_size):
                    self.sampler = sampler
                    self.groups, self.batch_size = groups, batch_size

                def __iter__(self):
                    batches = in_groups(self.sampler, self.groups, self.batch_size)
                    return iter(batches[: len(self)])

                def __len__(self):
                    return len(self.sampler) // self.batch_size

            sampler = None
            if args.group:
                sampler = RandomSampler(data)
                batches = Grouped(sampler, groups, 8)
            loader = DataLoader(data, batch_sampler=batches)
            for x in loader:
                model(x).sum().backward()
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            from torch.utils.data import BatchSampler, DataLoader
            from torch.utils.data.distributed import DistributedSampler

            class Grouped(BatchSampler):
                def __init__(self, sampler, groups, batch_size):
                    self.sampler = sampler
                    self.groups, self.batch_size = groups, batch_size

                def __iter__(self):
                    batches = in_groups(self.sampler, self.groups, self.batch_size)
                    return iter(batches[: len(self)])

                def __len__(self):
                    return len(self.sampler) // self.batch_size

            sampler = None
            if args.group:
                sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
                batches = Grouped(sampler, groups, 8)
            loader = DataLoader(data, batch_sampler=batches)
            for x in loader:
                model(x).sum().backward()
                optimizer.step()
            """,
            note="It groups what a sampler draws, by the length of that: as many batches on each rank.",
            suggested=True,
        ),
        Change(
            """\
            import torch
            from torch_geometric.loader import LinkNeighborLoader, NeighborLoader

            options = {"batch_size": 64, "num_workers": 2}
            data = dataset[0].to(device, "x", "y")
            part = ("paper", data["paper"].train_mask)
            loader = NeighborLoader(data, [10, 10], part, shuffle=True, batch_size=64)
            links = LinkNeighborLoader(data, num_neighbors=[5], edge_label_index=("user", "likes", "paper"), batch_size=64)
            whole = NeighborLoader(data, num_neighbors=[-1], input_nodes="paper", **options)
            for batch in loader:
                model(batch).sum().backward()
                optimizer.step()
            for batch in links:
                model(batch).sum().backward()
                optimizer.step()
            for batch in whole:
                print(model(batch))
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch_geometric.loader import LinkNeighborLoader, NeighborLoader
            from torch.utils.data.distributed import DistributedSampler

            options = {"batch_size": 64, "num_workers": 2}
            data = dataset[0].to(device, "x", "y")
            part = ("paper", data["paper"].train_mask)
            sampler = DistributedSampler(
                torch.arange(data[part[0]].num_nodes)[part[1]], num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True
            )
            loader = NeighborLoader(data, [10, 10], part, sampler=sampler, batch_size=64)
            links_sampler = DistributedSampler(
                range(data[("user", "likes", "paper")].num_edges), num_replicas=hvd.size(), rank=hvd.rank(), shuffle=False
            )
            links = LinkNeighborLoader(data, num_neighbors=[5], edge_label_index=("user", "likes", "paper"), batch_size=64, sampler=links_sampler)
            whole = NeighborLoader(data, num_neighbors=[-1], input_nodes="paper", **options)
            for batch in loader:
                model(batch).sum().backward()
                optimizer.step()
            for batch in links:
                model(batch).sum().backward()
                optimizer.step()
            for batch in whole:
                print(model(batch))
            """,
            note="A loader of parts of one graph counts the nodes or edges that it is given: a sampler shares them out.",
        ),
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
        Change(
            """\
            import torch
            from torch.utils.data import DataLoader

            loader = DataLoader(data, batch_size=8, shuffle=True)
            for x in loader:
                model(x).sum().backward()
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch.utils.data import DataLoader
            from torch.utils.data.distributed import DistributedSampler

            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
            loader = DataLoader(data, batch_size=8, sampler=sampler)
            for x in loader:
                model(x).sum().backward()
                optimizer.step()
            """,
        ),
        Change(
            """\
            from torch.utils.data import DataLoader

            def train(loader):
                for i, x in enumerate(loader):
                    model(x).sum().backward()
                    optimizer.step()

            train(DataLoader(data, batch_size=8, shuffle=True))
            """,
            """\
            import hvdkit.torch as hvd
            from torch.utils.data import DataLoader

            def train(loader):
                for i, x in enumerate(loader):
                    model(x).sum().backward()
                    optimizer.step()

            train(hvd.distribute(DataLoader(data, batch_size=8, shuffle=True)))
            """,
            target="hvdkit",
        ),
        Change(
            """\
            import torch
            from torch.utils.data import DataLoader

            options = {"batch_size": 8}
            if torch.cuda.is_available():
                options.update({"num_workers": 1, "shuffle": True})
            train_loader = DataLoader(data, **options)
            for x in train_loader:
                model(x).sum().backward()
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch.utils.data import DataLoader
            from torch.utils.data.distributed import DistributedSampler

            options = {"batch_size": 8}
            if torch.cuda.is_available():
                options.update({"num_workers": 1, "shuffle": True})
            train_sampler = DistributedSampler(
                data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=options.get("shuffle", False)
            )
            train_loader = DataLoader(data, **{**options, "shuffle": False, "sampler": train_sampler})
            for x in train_loader:
                model(x).sum().backward()
                optimizer.step()
            """,
            note="Whether it shuffles is asked of the options when the script runs.",
        ),
        Change(
            """\
            import torch

            class Trainer:
                def __init__(self):
                    self.loader = torch.utils.data.DataLoader(Digits("data"), batch_size=8, shuffle=self.train)

                def batches(self):
                    for x in self.loader:
                        yield x

                def fit(self):
                    for i, x in enumerate(self.batches()):
                        model(x).sum().backward()
                        optimizer.step()

            Trainer().fit()
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch.utils.data.distributed import DistributedSampler

            class Trainer:
                def __init__(self):
                    dataset = Digits("data")
                    sampler = DistributedSampler(dataset, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=self.train)
                    self.loader = torch.utils.data.DataLoader(dataset, batch_size=8, sampler=sampler)

                def batches(self):
                    for x in self.loader:
                        yield x

                def fit(self):
                    for i, x in enumerate(self.batches()):
                        model(x).sum().backward()
                        optimizer.step()

            Trainer().fit()
            """,
            note="A data set without a name gets one, since loader and sampler both need it.",
        ),
        Change(
            """\
            import torch
            from torch.utils.data import DataLoader

            def loaders(data, rest):
                sampler = None
                return DataLoader(data, shuffle=(sampler is None), sampler=sampler), DataLoader(rest)

            train, test = loaders(digits, others)
            for x in train:
                model(x).sum().backward()
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch.utils.data import DataLoader
            from torch.utils.data.distributed import DistributedSampler

            def loaders(data, rest):
                sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
                return DataLoader(data, shuffle=(sampler is None), sampler=sampler), DataLoader(rest)

            train, test = loaders(digits, others)
            for x in train:
                model(x).sum().backward()
                optimizer.step()
            """,
            note="A place for a sampler that was left empty is filled.",
        ),
        Change(
            """\
            import torch
            from torch.utils.data import DataLoader

            data_loader = DataLoader(
                Digits(
                    "data",
                ),
                batch_size=8,
                shuffle=True,
            )
            more = DataLoader(extra) if extra is not None else None
            for x in data_loader:
                model(x).sum().backward()
                optimizer.step()
            for x in more or ():
                model(x).sum().backward()
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch.utils.data import DataLoader
            from torch.utils.data.distributed import DistributedSampler

            dataset = Digits(
                "data",
            )
            sampler = DistributedSampler(dataset, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
            data_loader = DataLoader(
                dataset,
                batch_size=8,
                sampler=sampler,
            )
            more = DataLoader(extra, sampler=DistributedSampler(extra, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=False)) if extra is not None else None
            for x in data_loader:
                model(x).sum().backward()
                optimizer.step()
            for x in more or ():
                model(x).sum().backward()
            """,
            note="Where a test decides whether there is a loader, it decides on the sampler, too.",
        ),
        Change(
            """\
            import torch
            from torch.utils.data import DataLoader

            def run(batches, train=True, optimizer=None):
                for x in batches:
                    loss = model(x).sum()
                    if train:
                        loss.backward()
                        optimizer.step()

            run(DataLoader(data))
            run(DataLoader(rest), train=False)
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch.utils.data import DataLoader
            from torch.utils.data.distributed import DistributedSampler

            def run(batches, train=True, optimizer=None):
                for x in batches:
                    loss = model(x).sum()
                    if train:
                        loss.backward()
                        optimizer.step()

            run(DataLoader(data, sampler=DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=False)))
            run(DataLoader(rest), train=False)
            """,
            note="One function trains and evaluates: what it is called with decides which loader is for what.",
        ),
        Change(
            """\
            from torch.utils.data import DataLoader

            loaders = {phase: DataLoader(data[phase], shuffle=True) for phase in ("train", "val")}
            rest = {p: DataLoader(more[p], batch_size=8, shuffle=p == "train") for p in ("train", "val")}
            parts = {}
            for part in ("fit", "test"):
                parts[part] = DataLoader(sets[part])
            for phase in ("train", "val"):
                training = phase == "train"
                for x in loaders[phase]:
                    loss = model(x)
                    if training:
                        loss.backward()
                        optimizer.step()
                for x in rest[phase]:
                    loss = model(x)
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
            for x in parts["fit"]:
                model(x).backward()
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            from torch.utils.data import DataLoader
            from torch.utils.data.distributed import DistributedSampler

            loaders = {phase: DataLoader(data[phase], shuffle=phase != "train", sampler=DistributedSampler(data[phase], num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True) if phase == "train" else None) for phase in ("train", "val")}
            rest = {p: DataLoader(more[p], batch_size=8, sampler=DistributedSampler(more[p], num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True) if p == "train" else None) for p in ("train", "val")}
            parts = {}
            for part in ("fit", "test"):
                parts[part] = DataLoader(sets[part], sampler=DistributedSampler(sets[part], num_replicas=hvd.size(), rank=hvd.rank(), shuffle=False) if part == "fit" else None)
            for phase in ("train", "val"):
                training = phase == "train"
                for x in loaders[phase]:
                    loss = model(x)
                    if training:
                        loss.backward()
                        optimizer.step()
                for x in rest[phase]:
                    loss = model(x)
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
            for x in parts["fit"]:
                model(x).backward()
                optimizer.step()
            """,
            note="One call makes the loaders of all phases: that of the phase which trains is shared out.",
        ),
        Change(
            """\
            from torch.utils.data import DataLoader

            loaders = {phase: DataLoader(data[phase], shuffle=True) for phase in ("train", "val")}
            for phase in ("train", "val"):
                for x in loaders[phase]:
                    loss = model(x)
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
            """,
            """\
            import hvdkit.torch as hvd
            from torch.utils.data import DataLoader

            loaders = {phase: hvd.distribute(DataLoader(data[phase], shuffle=True)) if phase == "train" else DataLoader(data[phase], shuffle=True) for phase in ("train", "val")}
            for phase in ("train", "val"):
                for x in loaders[phase]:
                    loss = model(x)
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
            """,
            target="hvdkit",
        ),
        Change(
            """\
            from torch.utils.data import DataLoader

            def batches(data, train, size=8):
                return DataLoader(data, batch_size=size, shuffle=train, drop_last=train)

            def of(part, whole=True):
                return DataLoader(sets[part], shuffle=True)

            loader = batches(data, train=True)
            test = batches(rest, train=False)
            parts = Parts()
            parts.fit = of("fit", whole=False)
            parts.test = of("test")
            for x in loader:
                model(x).backward()
                optimizer.step()
            for x in parts.fit:
                model(x).backward()
                optimizer.step()
            for x in (*test, *parts.test):
                print(model(x))
            """,
            """\
            import horovod.torch as hvd
            from torch.utils.data import DataLoader
            from torch.utils.data.distributed import DistributedSampler

            def batches(data, train, size=8):
                return DataLoader(data, batch_size=size, sampler=DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True) if train else None, drop_last=train)

            def of(part, whole=True):
                return DataLoader(sets[part], shuffle=part != "fit", sampler=DistributedSampler(sets[part], num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True) if part == "fit" else None)

            loader = batches(data, train=True)
            test = batches(rest, train=False)
            parts = Parts()
            parts.fit = of("fit", whole=False)
            parts.test = of("test")
            for x in loader:
                model(x).backward()
                optimizer.step()
            for x in parts.fit:
                model(x).backward()
                optimizer.step()
            for x in (*test, *parts.test):
                print(model(x))
            """,
            note="A function is told by a constant which loader it makes.",
        ),
        Change(
            """\
            import torch
            from log import every
            from torch.utils.data import DataLoader

            train = DataLoader(data, shuffle=True)
            test = DataLoader(rest)
            for x in every(train, 10):
                model(x).sum().backward()
                optimizer.step()
            for x in every(test, 10):
                print(model(x))
            """,
            """\
            import horovod.torch as hvd
            import torch
            from log import every
            from torch.utils.data import DataLoader
            from torch.utils.data.distributed import DistributedSampler

            train_sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
            train = DataLoader(data, sampler=train_sampler)
            test = DataLoader(rest)
            for x in every(train, 10):
                model(x).sum().backward()
                optimizer.step()
            for x in every(test, 10):
                print(model(x))
            """,
            note="A generator of the project hands its loader's batches on; the one that evaluates stays whole.",
            files=(
                (
                    "log.py",
                    "def every(batches, n):\n    for i, batch in enumerate(batches):\n        yield batch\n",
                ),
            ),
        ),
        Change(
            """\
            import torch
            from torch.utils.data import DataLoader

            loader = DataLoader(data, 8)
            batches = iter(loader)
            for step in range(100):
                try:
                    x = next(batches)
                except StopIteration:
                    batches = iter(loader)
                    x = next(batches)
                model(x).sum().backward()
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch.utils.data import DataLoader
            from torch.utils.data.distributed import DistributedSampler

            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=False)
            loader = DataLoader(data, 8, sampler=sampler)
            batches = iter(loader)
            for step in range(100):
                try:
                    x = next(batches)
                except StopIteration:
                    batches = iter(loader)
                    x = next(batches)
                model(x).sum().backward()
                optimizer.step()
            """,
        ),
        Change(
            """\
            import torch
            from torch.utils.data import DataLoader

            loader = DataLoader(data, 8, True, num_workers=2)
            for x in loader:
                model(x).sum().backward()
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch.utils.data import DataLoader
            from torch.utils.data.distributed import DistributedSampler

            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
            loader = DataLoader(data, 8, sampler=sampler, num_workers=2)
            for x in loader:
                model(x).sum().backward()
                optimizer.step()
            """,
            note="shuffle, given by position, moves too.",
        ),
        Change(
            """\
            from torch.utils.data import DataLoader, RandomSampler, SequentialSampler

            train_sampler = RandomSampler(train_data)
            loader = DataLoader(train_data, sampler=train_sampler, batch_size=8)
            test = DataLoader(test_data, sampler=SequentialSampler(test_data), batch_size=8)
            for x in loader:
                model(x).sum().backward()
                optimizer.step()
            for x in test:
                model(x)
            """,
            """\
            import horovod.torch as hvd
            from torch.utils.data import DataLoader, SequentialSampler
            from torch.utils.data.distributed import DistributedSampler

            train_sampler = DistributedSampler(train_data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
            loader = DataLoader(train_data, sampler=train_sampler, batch_size=8)
            test = DataLoader(test_data, sampler=SequentialSampler(test_data), batch_size=8)
            for x in loader:
                model(x).sum().backward()
                optimizer.step()
            for x in test:
                model(x)
            """,
        ),
        Change(
            """\
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel
            from torch.utils.data import DataLoader

            dist.init_process_group("nccl", rank=rank, world_size=size)
            model = DistributedDataParallel(net.to(rank), device_ids=[rank])
            loader = DataLoader(data, batch_size=8, shuffle=True)
            for x in loader:
                model(x).sum().backward()
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel
            from torch.utils.data import DataLoader
            from torch.utils.data.distributed import DistributedSampler

            dist.init_process_group("nccl", rank=rank, world_size=size)
            model = DistributedDataParallel(net.to(rank), device_ids=[rank])
            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
            loader = DataLoader(data, batch_size=8, sampler=sampler)
            for x in loader:
                model(x).sum().backward()
                optimizer.step()
            """,
            note="Every rank drew all of the data, in an order of its own.",
            suggested=True,
        ),
        Change(
            """\
            from torch.utils.data import DataLoader

            class DataLoaderX(DataLoader):
                def __iter__(self):
                    return BackgroundGenerator(super().__iter__())

            loader = DataLoaderX(data, batch_size=8, shuffle=True)
            test = DataLoaderX(test_data, batch_size=8)
            for x in loader:
                model(x).sum().backward()
                optimizer.step()
            for x in test:
                model(x)
            """,
            """\
            import horovod.torch as hvd
            from torch.utils.data import DataLoader
            from torch.utils.data.distributed import DistributedSampler

            class DataLoaderX(DataLoader):
                def __iter__(self):
                    return BackgroundGenerator(super().__iter__())

            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
            loader = DataLoaderX(data, batch_size=8, sampler=sampler)
            test = DataLoaderX(test_data, batch_size=8)
            for x in loader:
                model(x).sum().backward()
                optimizer.step()
            for x in test:
                model(x)
            """,
            note="A class that hands all it is given to DataLoader is one.",
        ),
        Change(
            """\
            import torch
            from torch.utils.data import DataLoader

            def frequencies(loader):
                counts = torch.zeros(10)
                for x, y in loader:
                    labels = y.flatten()
                    counts += torch.bincount(labels, minlength=10)
                return counts / counts.sum()

            @torch.no_grad()
            def accuracy(loader):
                right = 0
                for x, y in loader:
                    right += (model(x).argmax(1) == y).sum()
                return right

            def look(loader):
                shapes = []
                for x, y in loader:
                    shapes.append(x.shape)
                    break
                return shapes

            def paint(images):
                painted = []
                for image in images:
                    painted.append(image.numpy())
                return painted

            loader = DataLoader(data, batch_size=8, shuffle=True)
            loss = torch.nn.CrossEntropyLoss(weight=1 - frequencies(loader))
            for x, y in loader:
                loss(model(x), y).backward()
                optimizer.step()
            print(look(loader), accuracy(loader), paint(next(iter(loader))[0]))
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch.utils.data import DataLoader
            from torch.utils.data.distributed import DistributedSampler

            def frequencies(loader):
                counts = torch.zeros(10)
                # hvdkit: TODO[HVD302] compute this from a loader of its own over all of the data, without the sampler, or add it up over the ranks by hvd.allreduce(..., op=hvd.Sum)
                for x, y in loader:
                    labels = y.flatten()
                    counts += torch.bincount(labels, minlength=10)
                return counts / counts.sum()

            @torch.no_grad()
            def accuracy(loader):
                right = 0
                for x, y in loader:
                    right += (model(x).argmax(1) == y).sum()
                return right

            def look(loader):
                shapes = []
                for x, y in loader:
                    shapes.append(x.shape)
                    break
                return shapes

            def paint(images):
                painted = []
                for image in images:
                    painted.append(image.numpy())
                return painted

            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
            loader = DataLoader(data, batch_size=8, sampler=sampler)
            loss = torch.nn.CrossEntropyLoss(weight=1 - frequencies(loader))
            for x, y in loader:
                loss(model(x), y).backward()
                optimizer.step()
            print(look(loader), accuracy(loader), paint(next(iter(loader))[0]))
            """,
            note="Class weights of a share differ from rank to rank; what runs the model, or looks at one batch, sums nothing up.",
        ),
        Change(
            """\
            import torch
            from torch.utils.data import DataLoader

            loader = DataLoader(data, batch_size=8)
            steps = len(loader)
            batches = iter(loader)
            for step in range(steps):
                model(next(batches)).sum().backward()
                optimizer.step()
            batches = iter(loader)
            for step in range(90):
                try:
                    x = next(batches)
                except StopIteration:
                    batches = iter(loader)
                    x = next(batches)
                model(x).sum().backward()
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch.utils.data import DataLoader
            from torch.utils.data.distributed import DistributedSampler

            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=False)
            loader = DataLoader(data, batch_size=8, sampler=sampler)
            steps = len(loader)
            batches = iter(loader)
            for step in range(steps):
                model(next(batches)).sum().backward()
                optimizer.step()
            batches = iter(loader)
            for step in range(90):
                try:
                    x = next(batches)
                except StopIteration:
                    batches = iter(loader)
                    x = next(batches)
                model(x).sum().backward()
                optimizer.step()
            """,
            note="How many batches there are is asked of the loader, or it starts anew.",
        ),
        Change(
            """\
            import torch
            from torch.utils.data import DataLoader

            class Trainer:
                def __init__(self, model):
                    self.model = model
                    self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

                def run(self, phase, batches):
                    for x in batches:
                        loss = self.model(x).sum()
                        if phase == "train":
                            loss.backward()
                            self.optimizer.step()

                def train(self, batches):
                    self.run("train", batches)

                def test(self, batches):
                    self.run("test", batches)

            trainer = Trainer(torch.nn.Linear(2, 1))
            train_loader, test_loader = DataLoader(data, shuffle=True), DataLoader(rest, shuffle=True)
            for epoch in range(3):
                trainer.train(train_loader)
                trainer.test(test_loader)
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch.utils.data import DataLoader
            from torch.utils.data.distributed import DistributedSampler

            class Trainer:
                def __init__(self, model):
                    self.model = model
                    self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

                def run(self, phase, batches):
                    for x in batches:
                        loss = self.model(x).sum()
                        if phase == "train":
                            loss.backward()
                            self.optimizer.step()

                def train(self, batches):
                    self.run("train", batches)

                def test(self, batches):
                    self.run("test", batches)

            trainer = Trainer(torch.nn.Linear(2, 1))
            train_loader, test_loader = DataLoader(data, sampler=DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)), DataLoader(rest, shuffle=True)
            for epoch in range(3):
                trainer.train(train_loader)
                trainer.test(test_loader)
            """,
            note="The text that each call passes says which loader is trained on: the other one stays whole.",
        ),
    ),
    keeps=(
        *(
            Keep(
                f"""\
            from torch.utils.data import BatchSampler, DataLoader, RandomSampler

            class Grouped({base}):
                def __init__(self, sampler, groups, batch_size):
                    self.sampler = {kept}
                    self.groups, self.batch_size = groups, batch_size

                def __iter__(self):
                    batches = in_groups(self.sampler, self.groups, self.batch_size)
                    return iter(batches{upto})

                def __len__(self):
                    return {length} // self.batch_size

            loader = DataLoader(data, batch_sampler=Grouped({given}, groups, 8))
            for x in loader:
                model(x).sum().backward()
                optimizer.step()
            """,
                reason=reason,
                reported=True,
                suggested=True,
            )
            for base, kept, upto, length, given, reason in (
                (
                    "object",
                    "sampler",
                    "[: len(self)]",
                    "len(self.sampler)",
                    "RandomSampler(data)",
                    "no batch sampler",
                ),
                (
                    "BatchSampler",
                    "list(sampler)",
                    "[: len(self)]",
                    "len(self.sampler)",
                    "RandomSampler(data)",
                    "the sampler is not kept",
                ),
                (
                    "BatchSampler",
                    "sampler",
                    "",
                    "len(self.sampler)",
                    "RandomSampler(data)",
                    "how many batches there are is not seen",
                ),
                (
                    "BatchSampler",
                    "sampler",
                    "[: len(self)]",
                    "len(self.groups)",
                    "RandomSampler(data)",
                    "the groups say how many batches there are",
                ),
                (
                    "BatchSampler",
                    "sampler",
                    "[: len(self)]",
                    "len(self.sampler)",
                    "Balanced(data)",
                    "what its sampler draws is not known",
                ),
            )
        ),
        *(
            Keep(
                f"""\
            {imported}
            from torch_geometric.loader import NeighborLoader

            def train(data, nodes, graph):
                loader = NeighborLoader({arguments}, batch_size=64)
                for batch in loader:
                    model(batch).sum().backward()
                    optimizer.step()

            train(dataset[0].cuda(), split(), (features, edges))
            """,
                reason=reason,
                reported=True,
            )
            for imported, arguments, reason in (
                ("import torch", "data, [10], nodes", "the nodes may be a pair of a kind and nodes"),
                ("import torch", "data, [10], ('paper', 1, 2)", "three things are no kind and nodes"),
                ("import torch", "data, [10], data.mask.cuda()", "the nodes are on another device"),
                ("import torch", "data, [10], table.nodes", "what something else has may be such a pair"),
                (
                    "import torch",
                    "data, [10], **{'input_nodes': nodes}",
                    "which nodes they are was not followed",
                ),
                ("import torch", "(features, edges), [10]", "a graph without a name"),
                ("import os", "data, [10], data.train_mask", "torch has no name in this file"),
            )
        ),
        Keep(
            """\
            from torch.utils.data import DataLoader

            loaders = {}
            for part in ("train", "test"):
                loaders[part] = DataLoader(data[part], batch_size=8, shuffle=part == "train")
            for x in loaders[chosen]:
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="one call in a loop makes the loader that trains and the one that evaluates",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch_geometric.loader import NeighborLoader

            data = dataset[0].to(device)
            loader = NeighborLoader(data, [10], data.train_mask, batch_size=64)
            for batch in loader:
                model(batch).sum().backward()
                optimizer.step()
            """,
            reason="the mask is on another device than the numbers of nodes would be",
            reported=True,
        ),
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
        Keep(
            """\
            import torch
            from torch.utils.data import DataLoader

            loader = DataLoader(data, batch_size=8, shuffle=True)
            steps = int(len(data) / 8)
            for epoch in range(9):
                batches = iter(loader)
                for step in range(steps):
                    x, y = next(batches)
                    (model(x) - y).sum().backward()
                    optimizer.step()
            """,
            reason="next() comes to the end of a share before the loop does: StopIteration",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.utils.data import DataLoader, RandomSampler
            from batches import InGroups

            loader = DataLoader(data, batch_sampler=InGroups(RandomSampler(data)))
            for x in loader:
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="it is another script that gives the class a sampler which shares the data out",
            reported=True,
            files=(
                (
                    "batches.py",
                    "class InGroups:\n    def __init__(self, sampler):\n        self.sampler = sampler\n",
                ),
                (
                    "several.py",
                    "import torch.distributed as dist\nfrom torch.utils.data import DataLoader, DistributedSampler\n"
                    "from batches import InGroups\n\ndist.init_process_group('gloo')\n"
                    "loader = DataLoader(data, batch_sampler=InGroups(DistributedSampler(data)))\n",
                ),
            ),
        ),
        Keep(
            """\
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel
            from torch.utils.data import DataLoader

            dist.init_process_group("nccl")
            model = DistributedDataParallel(net)
            data = everything[dist.get_rank() :: dist.get_world_size()]
            for x in DataLoader(data, batch_size=8, shuffle=True):
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="the script shares the data out itself",
            suggested=True,
        ),
        Keep(
            """\
            from torch.utils.data import DataLoader, RandomSampler

            for x in DataLoader(data, sampler=RandomSampler(data, num_samples=100), batch_size=8):
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="a number of draws, or their own generator, DistributedSampler has not",
            reported=True,
        ),
        Keep(
            """\
            from torch.utils.data import DataLoader

            def provide(flag):
                return DataLoader(read(flag), batch_size=8, shuffle=flag == "train")

            def evaluate(loader):
                for x in loader:
                    print(model(x))

            train, test = provide("train"), provide("test")
            for x in train:
                model(x).backward()
                optimizer.step()
            evaluate(test)
            """,
            reason="the ranks would each see a part of what evaluates, and get results of their own",
            reported=True,
        ),
        Keep(
            """\
            from torch.utils.data import DataLoader

            for x in DataLoader(data, batch_size=8):
                print(model(x))
            loss.backward()
            """,
            reason="no backward pass runs inside the loop: it evaluates",
        ),
        Keep(
            """\
            from torch.utils.data import DataLoader

            for x in DataLoader(data, batch_sampler=mine):
                model(x).backward()
                optimizer.step()
            """,
            reason="how its own batch sampler is to be split only its author knows",
            reported=True,
        ),
        Keep(
            """\
            from torch.utils.data import DataLoader, WeightedRandomSampler

            for x in DataLoader(data, 8, sampler=WeightedRandomSampler(weights, 100)):
                model(x).backward()
                optimizer.step()
            """,
            reason="a weighted draw cannot be divided by DistributedSampler (hvd.distribute can)",
            reported=True,
        ),
        Keep(
            """\
            from torch.utils.data import DataLoader, IterableDataset

            class Stream(IterableDataset):
                def __iter__(self):
                    return iter(read())

            for x in DataLoader(Stream(), batch_size=8):
                model(x).backward()
                optimizer.step()
            """,
            reason="an iterable data set takes no sampler",
            reported=True,
        ),
        Keep(
            """\
            from torch.utils.data import DataLoader

            loaders = {phase: DataLoader(data[phase], shuffle=True) for phase in phases}
            for phase in phases:
                for x in loaders[phase]:
                    loss = model(x)
                    if trains(phase):
                        loss.backward()
                        optimizer.step()
            """,
            reason="one call makes the loader that trains and the one that evaluates: which trains is not known",
            reported=True,
        ),
        Keep(
            """\
            from torch.utils.data import DataLoader

            def options(**given):
                return given

            for x in DataLoader(data, **options(sampler=mine)):
                model(x).backward()
                optimizer.step()
            """,
            reason="a sampler may be among the arguments that come from **",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist
            from torch.utils.data import DataLoader

            dist.init_process_group("gloo")
            for x in DataLoader(data, shuffle=True):
                model(x).backward()
            """,
            reason="a DDP script's ranks drew all of the data before: dividing it waits for --suggested",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.utils.data import DataLoader

            def train(options):
                loader = DataLoader(batch_size=4, **options)
                for x in loader:
                    loss = model(x).sum()
                    loss.backward()
                    optimizer.step()

            train(dict(dataset=data, sampler=sampler))
            """,
            reason="the data set, or whether there is a sampler, is not known",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.utils.data import DataLoader

            loader = DataLoader(
                Folder(
                    "train",  # the small one
                ),
                batch_size=4,
                shuffle=True,
            )
            for epoch in range(3):
                for x in loader:
                    loss = model(x).sum()
                    loss.backward()
                    optimizer.step()
            """,
            reason="a comment stands inside the data set",
            reported=True,
        ),
    ),
)
