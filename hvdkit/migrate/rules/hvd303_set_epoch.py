"""HVD303: the sampler hears of each epoch, or every epoch has the same order."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.code.loops import Loop
from hvdkit.migrate.facts.data.epochs import counts_again, epoch_loops, epoch_number, run_once, told_epoch
from hvdkit.migrate.facts.data.loaders import Loader
from hvdkit.migrate.facts.data.phases import phase_trained
from hvdkit.migrate.facts.data.sharding import BATCH_SAMPLER, epoch_calls, in_order, orders_itself
from hvdkit.migrate.facts.data.shares import drawn_whole
from hvdkit.migrate.facts.data.training import only_single
from hvdkit.migrate.facts.values.handed_out import assigned_to
from hvdkit.migrate.facts.values.order import last_binding
from hvdkit.migrate.facts.values.spelling import attribute_holding, spelled
from hvdkit.migrate.facts.values.value import Value
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule
from hvdkit.migrate.sampler_edits import in_groups, unshardable

BY_ENGINE = "ignite's engine counts the epochs over this loader"
IN_HANDLER = (
    "tell its sampler each epoch: trainer.add_event_handler(Events.EPOCH_STARTED, "
    "lambda engine: loader.sampler.set_epoch(engine.state.epoch))"
)
IN_BATCHES = (
    "call set_epoch(epoch) on the sampler that the batch sampler was given, at the start of each epoch"
)


def check(facts: Facts) -> Iterator[Finding]:
    for loader in facts.loaders:
        kinds = facts.kinds(loader.names) - {"none"}
        if not facts.training(loader) or not kinds or kinds == {"horovod"} or in_order(facts, loader):
            continue
        if orders_itself(facts, loader):
            continue
        single = kinds == {"single"}
        if single and not only_single(facts, loader.names):
            continue
        if not facts.sharded(loader) and not _gets_sampler(facts, loader, single):
            continue  # without a DistributedSampler there is no set_epoch
        loops = epoch_loops(facts, loader)
        if (
            epoch_calls(facts, loader)
            or any(told_epoch(facts, loop) for loop in loops)
            or run_once(facts, loader)
        ):
            continue
        if not loops:
            yield _finding(facts, loader, None, single)
        for loop in loops:
            yield _finding(facts, loader, loop, single)


def _gets_sampler(facts: Facts, loader: Loader, single: bool) -> bool:
    """Whether HVD302 gives the loader a DistributedSampler."""
    return (single or drawn_whole(facts, loader)) and not unshardable(facts, loader)


def _finding(facts: Facts, loader: Loader, epoch: Loop | None, single: bool) -> Finding:
    advice = "call loader.sampler.set_epoch(epoch) at the start of each epoch"
    if epoch is None:
        message = "no loop over epochs was found around the loop over this loader"
        if any(loader.value in path.loaders and path.batch < 0 for path in facts.loops.paths):
            message, advice = BY_ENGINE, IN_HANDLER
        return facts.manual("HVD303", loader.names, loader.node, message, advice)
    loader_name = _of_phase(facts, loader, epoch) or _inside(
        facts, loader, epoch, spelled(facts.flow, epoch.names, epoch.node, [loader.value])
    )
    made = _made_in(loader, epoch)
    loader_name = loader_name if made is None else loader.names.source.segment(made)
    number = epoch_number(facts, epoch)
    batches = facts.flow.values(loader.names, loader.batch_sampler)
    in_own = in_groups(facts, loader)
    if not in_own and any(value.name != BATCH_SAMPLER for value in batches):
        message = "the sampler stands in a batch sampler of the project's own"
        return facts.manual("HVD303", epoch.names, epoch.node, message, IN_BATCHES)
    # Beside a batch sampler the loader's own sampler is one that draws nothing.
    sampler = f"{loader_name}.batch_sampler.sampler" if batches else f"{loader_name}.sampler"
    again = isinstance(epoch.node, ast.For) and counts_again(facts, loader, epoch)
    counted = number is not None and not again
    if not counted and loader_name is not None and made is None and _is_distributed(facts, loader):
        number = f"{sampler}.epoch + 1"  # the sampler counts where the loop does not
    if number is None or loader_name is None:
        message = "the loop over epochs has no epoch number, or the loader has no name there"
        return facts.manual("HVD303", epoch.names, epoch.node, message, advice)
    lines = [f"{sampler}.set_epoch({number})"]
    if batches or not _always_told(facts, loader):
        lines = [f'if hasattr({sampler}, "set_epoch"):', f"\t{lines[0]}"]
    if _may_be_none(facts, epoch, loader_name):
        lines = [f"if {loader_name} is not None:", *(f"\t{line}" for line in lines)]
    message = "the sampler is told the epoch, so that every epoch has its own order"
    make = facts.safe if single and not in_own else facts.suggested
    if made is not None:
        names = loader.names
        place = names.statement(loader.node)
        return make("HVD303", names, place, message, edits.after, names.source, place, lines)
    return make(
        "HVD303", epoch.names, epoch.node, message, edits.at_start, epoch.names, epoch.node.body, lines
    )


def _inside(facts: Facts, loader: Loader, epoch: Loop, name: str | None) -> str | None:
    """The loader that a variable holds, or that an object of the project's own around it keeps by then."""
    uses = epoch.names.uses.get(name or "", ())
    use = next((use for use in uses if epoch.node in epoch.names.ancestors(use)), None)
    last = last_binding(epoch.names, use) if use is not None else None
    held = facts.flow.values(epoch.names, last.value) if last is not None and last.value is not None else ()
    owners = [
        value for value in held if value.kind == "object" and words.LOADER not in facts.flow.bases(value)
    ]
    if not owners or len(owners) < len(held):
        return name
    attribute = attribute_holding(facts.flow, owners[0], {loader.value}) if len(owners) == 1 else None
    return f"{name}.{attribute}" if attribute is not None else None


def _made_in(loader: Loader, epoch: Loop) -> ast.expr | None:
    """The variable of a loader that is made anew in each epoch, in the loop itself."""
    statement = loader.names.statement(loader.node)
    inside = loader.names is epoch.names and epoch.node in loader.names.ancestors(statement)
    same = loader.names.function(statement) is epoch.names.function(epoch.node)
    return assigned_to(statement, loader.node) if inside and same else None


def _of_phase(facts: Facts, loader: Loader, epoch: Loop) -> str | None:
    """The loader of the phase that trains, out of those of all: `loaders["train"]`, or its own variable."""
    phase = phase_trained(facts, loader)
    if phase is None:
        return None
    for names, taken in phase.taken:
        if names is epoch.names and names.function(taken) is names.function(epoch.node):
            held = names.source.segment(taken)
            return held if loader.value in facts.flow.values(names, taken) else f"{held}[{phase.name}]"
    return None


def _may_be_none(facts: Facts, epoch: Loop, loader_name: str) -> bool:
    """Whether a variable may hold no loader: `extra = DataLoader(...) if wanted else None`."""
    held = facts.flow.named(epoch.names, loader_name, epoch.node)
    return any(value.is_none for value in held)


def _is_distributed(facts: Facts, loader: Loader) -> bool:
    """Whether the sampler is torch's DistributedSampler, which HVD302 gives a loader without any."""
    values = facts.flow.values(loader.names, loader.sampler)
    given = bool(values) and all(value.name in words.SAMPLERS for value in values)
    return given or (loader.sampler is None and loader.batch_sampler is None)


def _always_told(facts: Facts, loader: Loader) -> bool:
    """Whether the sampler has a set_epoch in a job of one process, too: not `None` or another there."""
    values = facts.flow.values(loader.names, loader.sampler)
    told = [value for value in values if value.name in words.SAMPLERS - {words.ORDERED_SAMPLER}]
    return (not told or len(told) == len(values)) and all(
        other.batch_sampler is None
        and (facts.sharded(other) or _gets_sampler(facts, other, only_single(facts, other.names)))
        for other in _in_its_place(facts, loader)
    )


def _in_its_place(facts: Facts, loader: Loader) -> list[Loader]:
    """The other loaders that the variable of a loop may hold: another branch makes them."""
    drawn = {value for loop in epoch_loops(facts, loader) for value in _held(facts, loop, loader)}
    return [other for other in facts.loaders if other is not loader and other.value in drawn]


def _held(facts: Facts, loop: Loop, loader: Loader) -> frozenset[Value]:
    name = spelled(facts.flow, loop.names, loop.node, [loader.value])
    return facts.flow.named(loop.names, name, loop.node) if name and name.isidentifier() else frozenset()


RULE = Rule(
    id="HVD303",
    title="set_epoch in each epoch",
    what="Calls sampler.set_epoch(epoch) at the start of the loop over epochs.",
    why="DistributedSampler shuffles by its seed and the epoch it was told: untold, all epochs are in one order.",
    safety=(
        "Safe on a script that was single-process, where the loader's own shuffle drew a new order each epoch. "
        "Suggested on a DDP script that never called it: its data order would change, for the better."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from torch.utils.data import DataLoader

            class Trainer:
                def __init__(self, model, data, test):
                    self.model = model
                    self.loader = DataLoader(data, batch_size=4, shuffle=True)
                    self.test_loader = DataLoader(test, batch_size=4, shuffle=True)
                    self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

                def step(self, x):
                    raise NotImplementedError()

                def run(self):
                    for epoch in range(3):
                        for repeat in range(2):
                            for x in self.loader:
                                self.optimizer.zero_grad()
                                self.step(x)
                                self.optimizer.step()
                        for x in self.test_loader:
                            print(self.model(x).sum())

            class Sums(Trainer):
                def step(self, x):
                    self.model(x).sum().backward()

            Sums(torch.nn.Linear(2, 1), train_data, test_data).run()
            """,
            """\
            import torch
            from torch.utils.data import DataLoader

            class Trainer:
                def __init__(self, model, data, test):
                    self.model = model
                    self.loader = DataLoader(data, batch_size=4, shuffle=True)
                    self.test_loader = DataLoader(test, batch_size=4, shuffle=True)
                    self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

                def step(self, x):
                    raise NotImplementedError()

                def run(self):
                    for epoch in range(3):
                        for repeat in range(2):
                            self.loader.sampler.set_epoch(self.loader.sampler.epoch + 1)
                            for x in self.loader:
                                self.optimizer.zero_grad()
                                self.step(x)
                                self.optimizer.step()
                        for x in self.test_loader:
                            print(self.model(x).sum())

            class Sums(Trainer):
                def step(self, x):
                    self.model(x).sum().backward()

            Sums(torch.nn.Linear(2, 1), train_data, test_data).run()
            """,
            note="The inner loop counts from 0 again in each epoch. A deriving class brings what the loop calls.",
        ),
        Change(
            """\
            from torch.utils.data import DataLoader

            first, second = DataLoader(one, shuffle=True), DataLoader(two, shuffle=True)
            for epoch in range(3):
                for loader in (first, second):
                    for x in loader:
                        model(x).sum().backward()
                        optimizer.step()
            for rate in [0.1, 0.01]:
                for x in first:
                    model(x).sum().backward()
                    optimizer.step()
            """,
            """\
            from torch.utils.data import DataLoader

            first, second = DataLoader(one, shuffle=True), DataLoader(two, shuffle=True)
            for epoch in range(3):
                for loader in (first, second):
                    first.sampler.set_epoch(first.sampler.epoch + 1)
                    second.sampler.set_epoch(second.sampler.epoch + 1)
                    for x in loader:
                        model(x).sum().backward()
                        optimizer.step()
            for rate in [0.1, 0.01]:
                first.sampler.set_epoch(first.sampler.epoch + 1)
                for x in first:
                    model(x).sum().backward()
                    optimizer.step()
            """,
            note="Neither a loader nor a rate is a number to count by.",
        ),
        Change(
            """\
            from torch.utils.data import DataLoader

            class OnDevice:
                def __init__(self, loader, device):
                    self.loader, self.device = loader, device

                def __iter__(self):
                    for x in self.loader:
                        yield x.to(self.device)

            batches = DataLoader(data, shuffle=True)
            batches = OnDevice(batches, device)
            for epoch in range(3):
                for x in batches:
                    model(x).sum().backward()
                    optimizer.step()
            """,
            """\
            from torch.utils.data import DataLoader

            class OnDevice:
                def __init__(self, loader, device):
                    self.loader, self.device = loader, device

                def __iter__(self):
                    for x in self.loader:
                        yield x.to(self.device)

            batches = DataLoader(data, shuffle=True)
            batches = OnDevice(batches, device)
            for epoch in range(3):
                batches.loader.sampler.set_epoch(epoch)
                for x in batches:
                    model(x).sum().backward()
                    optimizer.step()
            """,
            note="An object of the script's own around the loader has no sampler; what it keeps has.",
        ),
        Change(
            """\
            from torch.utils.data import DataLoader

            for epoch in range(3):
                batches = DataLoader(drawn(epoch), shuffle=True)
                for x in batches:
                    model(x).sum().backward()
                    optimizer.step()
            """,
            """\
            from torch.utils.data import DataLoader

            for epoch in range(3):
                batches = DataLoader(drawn(epoch), shuffle=True)
                batches.sampler.set_epoch(epoch)
                for x in batches:
                    model(x).sum().backward()
                    optimizer.step()
            """,
            note="A loader that is made anew in each epoch has a sampler that begins anew.",
        ),
        Change(
            """\
            from torch.utils.data import DataLoader

            class Trainer:
                def __init__(self, data):
                    self.loaders = {part: DataLoader(data[part], shuffle=True) for part in ("train", "val")}

                def fit(self):
                    for epoch in range(3):
                        for phase in ("train", "val"):
                            batches = self.loaders[phase]
                            for x in batches:
                                loss = model(x).sum()
                                if phase == "train":
                                    loss.backward()
                                    optimizer.step()
            """,
            """\
            from torch.utils.data import DataLoader

            class Trainer:
                def __init__(self, data):
                    self.loaders = {part: DataLoader(data[part], shuffle=True) for part in ("train", "val")}

                def fit(self):
                    for epoch in range(3):
                        self.loaders["train"].sampler.set_epoch(epoch)
                        for phase in ("train", "val"):
                            batches = self.loaders[phase]
                            for x in batches:
                                loss = model(x).sum()
                                if phase == "train":
                                    loss.backward()
                                    optimizer.step()
            """,
            note="The loop over phases, which stands around the batches, counts no epochs.",
        ),
        Change(
            """\
            import torch
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
                loader = DataLoader(data, batch_sampler=Grouped(sampler, groups, 8))
            else:
                loader = DataLoader(data, batch_size=8, shuffle=True)
            for epoch in range(3):
                for x in loader:
                    model(x).sum().backward()
                    optimizer.step()
            """,
            """\
            import torch
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
                loader = DataLoader(data, batch_sampler=Grouped(sampler, groups, 8))
            else:
                loader = DataLoader(data, batch_size=8, shuffle=True)
            for epoch in range(3):
                if hasattr(loader.batch_sampler.sampler, "set_epoch"):
                    loader.batch_sampler.sampler.set_epoch(epoch)
                if hasattr(loader.sampler, "set_epoch"):
                    loader.sampler.set_epoch(epoch)
                for x in loader:
                    model(x).sum().backward()
                    optimizer.step()
            """,
            note="A loader with a batch sampler has a sampler of its own that draws nothing.",
            suggested=True,
        ),
        Change(
            """\
            from torch.utils.data import DataLoader

            loader = DataLoader(data, shuffle=True)
            for epoch in range(3):
                for x in loader:
                    model(x).sum().backward()
                    optimizer.step()
            """,
            """\
            from torch.utils.data import DataLoader

            loader = DataLoader(data, shuffle=True)
            for epoch in range(3):
                loader.sampler.set_epoch(epoch)
                for x in loader:
                    model(x).sum().backward()
                    optimizer.step()
            """,
            note="HVD302 gives the loader the sampler.",
        ),
        Change(
            """\
            import torch
            from torch.utils.data import DataLoader

            def train(loader, epoch):
                for x in loader:
                    model(x).sum().backward()
                    optimizer.step()

            loader = DataLoader(data, shuffle=True)
            epoch = 0
            while epoch < 3:
                train(loader, epoch)
                epoch += 1
            for i, lr in enumerate((0.1, 0.01)):
                train(loader, i)
            """,
            """\
            import torch
            from torch.utils.data import DataLoader

            def train(loader, epoch):
                for x in loader:
                    model(x).sum().backward()
                    optimizer.step()

            loader = DataLoader(data, shuffle=True)
            epoch = 0
            while epoch < 3:
                loader.sampler.set_epoch(epoch)
                train(loader, epoch)
                epoch += 1
            for i, lr in enumerate((0.1, 0.01)):
                loader.sampler.set_epoch(i)
                train(loader, i)
            """,
            note="The loop over epochs may stand in another function, and count by itself.",
        ),
        Change(
            """\
            import torch.distributed as dist
            from torch.utils.data import DataLoader, DistributedSampler

            if options["dist"]:
                dist.init_process_group("nccl")
                loader = DataLoader(data, sampler=DistributedSampler(data))
            else:
                loader = DataLoader(data, shuffle=True, batch_sampler=batches)
            for epoch in range(3):
                for x in loader:
                    model(x).sum().backward()
            """,
            """\
            import torch.distributed as dist
            from torch.utils.data import DataLoader, DistributedSampler

            if options["dist"]:
                dist.init_process_group("nccl")
                loader = DataLoader(data, sampler=DistributedSampler(data))
            else:
                loader = DataLoader(data, shuffle=True, batch_sampler=batches)
            for epoch in range(3):
                if hasattr(loader.sampler, "set_epoch"):
                    loader.sampler.set_epoch(epoch)
                for x in loader:
                    model(x).sum().backward()
            """,
            suggested=True,
            note="The loader of the other branch has no such sampler.",
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist
            from torch.utils.data import DataLoader, DistributedSampler

            sampler = DistributedSampler(data) if dist.get_world_size() > 1 else None
            loader = DataLoader(data, sampler=sampler)
            for epoch in range(3):
                for x in loader:
                    model(x).sum().backward()
            """,
            """\
            import torch
            import torch.distributed as dist
            from torch.utils.data import DataLoader, DistributedSampler

            sampler = DistributedSampler(data) if dist.get_world_size() > 1 else None
            loader = DataLoader(data, sampler=sampler)
            for epoch in range(3):
                if hasattr(loader.sampler, "set_epoch"):
                    loader.sampler.set_epoch(epoch)
                for x in loader:
                    model(x).sum().backward()
            """,
            note="Alone, the loader has another sampler, which knows of no epochs.",
            suggested=True,
        ),
        Change(
            """\
            import torch
            import torch.distributed as dist
            from torch.utils.data import DataLoader

            dist.init_process_group("gloo")
            loader = DataLoader(data, shuffle=True)
            for epoch in range(3):
                for x in loader:
                    model(x).sum().backward()
                    optimizer.step()
            """,
            """\
            import torch
            import torch.distributed as dist
            from torch.utils.data import DataLoader

            dist.init_process_group("gloo")
            loader = DataLoader(data, shuffle=True)
            for epoch in range(3):
                loader.sampler.set_epoch(epoch)
                for x in loader:
                    model(x).sum().backward()
                    optimizer.step()
            """,
            note="A distributed script that shares nothing out gets the sampler by HVD302's suggestion.",
            suggested=True,
        ),
        Change(
            """\
            from torch.utils.data import DataLoader

            loader = DataLoader(data, shuffle=True)
            for state["epoch"] in range(state["epoch"], 3):
                for x in loader:
                    model(x).sum().backward()
                    optimizer.step()
            while trainer.epoch < 9:
                for x in loader:
                    model(x).sum().backward()
                    optimizer.step()
                trainer.epoch += 1
            """,
            """\
            from torch.utils.data import DataLoader

            loader = DataLoader(data, shuffle=True)
            for state["epoch"] in range(state["epoch"], 3):
                loader.sampler.set_epoch(state["epoch"])
                for x in loader:
                    model(x).sum().backward()
                    optimizer.step()
            while trainer.epoch < 9:
                loader.sampler.set_epoch(trainer.epoch)
                for x in loader:
                    model(x).sum().backward()
                    optimizer.step()
                trainer.epoch += 1
            """,
            note="The number of an epoch may be kept in a dictionary or an object.",
        ),
        Change(
            """\
            from torch.utils.data import DataLoader

            loader = DataLoader(data, shuffle=True)
            step = 0
            while step < 1000:
                for x in loader:
                    model(x).sum().backward()
                    optimizer.step()
                    step += 1
            """,
            """\
            from torch.utils.data import DataLoader

            loader = DataLoader(data, shuffle=True)
            step = 0
            while step < 1000:
                loader.sampler.set_epoch(loader.sampler.epoch + 1)
                for x in loader:
                    model(x).sum().backward()
                    optimizer.step()
                    step += 1
            """,
            note="A loop that counts steps has no number of the epoch; the sampler keeps its own.",
        ),
        Change(
            """\
            import torch.distributed as dist
            from torch.utils.data import DataLoader, DistributedSampler

            def train(loader):
                for x in loader:
                    model(x).sum().backward()

            dist.init_process_group("gloo")
            extra = DataLoader(more, sampler=DistributedSampler(more)) if more else None
            for epoch in range(3):
                if extra:
                    train(extra)
            """,
            """\
            import torch.distributed as dist
            from torch.utils.data import DataLoader, DistributedSampler

            def train(loader):
                for x in loader:
                    model(x).sum().backward()

            dist.init_process_group("gloo")
            extra = DataLoader(more, sampler=DistributedSampler(more)) if more else None
            for epoch in range(3):
                if extra is not None:
                    extra.sampler.set_epoch(epoch)
                if extra:
                    train(extra)
            """,
            note="There may be no loader.",
            suggested=True,
        ),
        Change(
            """\
            import torch.distributed as dist
            from torch.utils.data import BatchSampler, DataLoader, DistributedSampler

            dist.init_process_group("gloo")
            loader = DataLoader(data, batch_sampler=BatchSampler(DistributedSampler(data), 8, True))
            for epoch in range(3):
                for x in loader:
                    model(x).sum().backward()
            """,
            """\
            import torch.distributed as dist
            from torch.utils.data import BatchSampler, DataLoader, DistributedSampler

            dist.init_process_group("gloo")
            loader = DataLoader(data, batch_sampler=BatchSampler(DistributedSampler(data), 8, True))
            for epoch in range(3):
                if hasattr(loader.batch_sampler.sampler, "set_epoch"):
                    loader.batch_sampler.sampler.set_epoch(epoch)
                for x in loader:
                    model(x).sum().backward()
            """,
            note="The sampler of a loader with a batch sampler draws nothing, and has no set_epoch.",
            suggested=True,
        ),
        Change(
            """\
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for epoch in range(3):
                loader = torch.utils.data.DataLoader(data, shuffle=True)
                for x in loader:
                    model(x).sum().backward()
                    optimizer.step()
            """,
            """\
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for epoch in range(3):
                loader = torch.utils.data.DataLoader(data, shuffle=True)
                loader.sampler.set_epoch(epoch)
                for x in loader:
                    model(x).sum().backward()
                    optimizer.step()
            """,
            note="Made anew in each epoch, the sampler of HVD302 begins with the same order: it is told there.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            from ignite.engine import create_supervised_trainer

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loader = torch.utils.data.DataLoader(data, shuffle=True)
            trainer = create_supervised_trainer(model, optimizer, torch.nn.functional.mse_loss)
            trainer.run(loader, max_epochs=3)
            """,
            reason="the loop over epochs is the library's: a handler of its own has to tell the sampler",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist
            from torch.utils.data import DataLoader, Sampler

            class Endless(Sampler):
                def __init__(self, data, rank, size):
                    self.data, self.rank, self.size = data, rank, size

                def __iter__(self):
                    index = self.rank
                    while True:
                        yield index % len(self.data)
                        index += self.size

            dist.init_process_group("gloo")
            sampler = Endless(data, dist.get_rank(), dist.get_world_size())
            batches = iter(DataLoader(data, sampler=sampler))
            while True:
                model(next(batches)).sum().backward()
                optimizer.step()
            """,
            reason="a sampler of the project that never ends, and has nothing that could be told",
        ),
        Keep(
            """\
            import torch.distributed as dist
            from torch.utils.data import DataLoader, Sampler

            class Buckets(Sampler):
                def __init__(self, data):
                    self.bins = list(range(dist.get_rank(), len(data), dist.get_world_size()))

                def __iter__(self):
                    return iter(self.bins)

            dist.init_process_group("gloo")
            loader = DataLoader(data, batch_sampler=Buckets(data))
            for epoch in range(3):
                for x in loader:
                    model(x).sum().backward()
                    optimizer.step()
            """,
            reason="a batch sampler that makes its own order, and has nothing that could be told",
        ),
        Keep(
            """\
            import torch.distributed as dist
            from torch.utils.data import DataLoader, DistributedSampler

            class InGroups:
                def __init__(self, sampler):
                    self.within = sampler

            dist.init_process_group("gloo")
            loader = DataLoader(data, batch_sampler=InGroups(DistributedSampler(data)))
            for epoch in range(3):
                for x in loader:
                    model(x).sum().backward()
            """,
            reason="where the sampler is found in a batch sampler of one's own is not known",
            reported=True,
        ),
        Keep(
            """\
            import torch.distributed as dist
            from torch.utils.data import DataLoader, DistributedSampler

            def shuffle(loader, epoch):
                sampler = loader.sampler if plain else loader.batch_sampler.sampler
                if isinstance(sampler, DistributedSampler):
                    sampler.set_epoch(epoch)

            dist.init_process_group("gloo")
            loader = DataLoader(data, sampler=DistributedSampler(data))
            for epoch in range(3):
                shuffle(loader, epoch)
                for x in loader:
                    model(x).sum().backward()
            """,
            reason="the sampler is told the epoch by a function, where it has a name",
        ),
        Keep(
            """\
            from torch.utils.data import DataLoader

            loader = DataLoader(data, 8, True, None)
            for epoch in range(3):
                for x in loader:
                    model(x).sum().backward()
            """,
            reason="HVD302 cannot give this loader a sampler, and the one it has takes no epoch",
        ),
        Keep(
            """\
            from torch.utils.data import DataLoader

            loader = DataLoader(data)
            for epoch in range(3):
                for x in loader:
                    model(x).sum().backward()
            """,
            reason="nothing is shuffled: every epoch has the data's own order",
        ),
        Keep(
            """\
            from torch.utils.data import DataLoader

            for x in DataLoader(data, shuffle=True):
                model(x).sum().backward()
            """,
            reason="the data is run through once",
        ),
        Keep(
            """\
            import torch.distributed as dist
            from torch.utils.data import DataLoader, DistributedSampler

            class Job:
                def __init__(self):
                    dist.init_process_group("gloo")
                    self.loader = DataLoader(data, sampler=DistributedSampler(data))

                def epoch(self, number):
                    self.loader.sampler.set_epoch(number)
                    for x in self.loader:
                        model(x).sum().backward()

            job = Job()
            for number in range(3):
                job.epoch(number)
            """,
            reason="it is called through the loader, in another function than the loop's",
        ),
        Keep(
            """\
            import torch.distributed as dist
            from torch.utils.data import DataLoader, DistributedSampler

            dist.init_process_group("gloo")
            sampler = DistributedSampler(data)
            loader = DataLoader(data, sampler=sampler)
            for epoch in range(3):
                sampler.set_epoch(epoch)
                for x in loader:
                    model(x).sum().backward()
            """,
            reason="it is called already",
        ),
        Keep(
            """\
            import torch.distributed as dist
            from torch.utils.data import DataLoader, DistributedSampler

            dist.init_process_group("gloo")
            loader = DataLoader(data, sampler=DistributedSampler(data))
            for epoch in range(3):
                for x in loader:
                    model(x).sum().backward()
            """,
            reason="adding it changes the order that this DDP script trained with: only with --suggested",
            reported=True,
        ),
        Keep(
            """\
            from torch.utils.data import DataLoader

            while True:
                for x in DataLoader(data, shuffle=True):
                    model(x).sum().backward()
                    optimizer.step()
            """,
            reason="the loop has no epoch number to pass",
            reported=True,
        ),
    ),
)
