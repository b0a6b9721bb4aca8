"""HVD304: a single-process program that trains without a DataLoader computes the same batches on every rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.loops import Path
from hvdkit.migrate.facts.data.draws import drawn_apart, draws_unseeded, made_apart
from hvdkit.migrate.facts.data.experience import Seeding, played_apart, seeding
from hvdkit.migrate.facts.data.training import own_loaders, seeds, training_paths, unfollowed_loaders
from hvdkit.migrate.facts.data.whole_graph import one_batch, whole_graph
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule

ADVICE = (
    "let each rank draw its own batches: add hvd.rank() to the seed of what is drawn at random, or take every "
    "hvd.size()-th batch from the hvd.rank()-th on"
)

ONE_BATCH = "each step computes the same batch, and every rank would compute all of it"
ONE_RANDOM = (
    "each step computes the same batch; every rank would compute all of it, or one of its own where it is drawn at "
    "random, which nothing seeds"
)
ROWS = (
    "where its rows do not depend on each other, give each rank its own, as many as the others have: "
    "x[hvd.rank()::hvd.size()]; where they do, nothing can be divided, and this note can go"
)

UNFOLLOWED = (
    "give the DataLoader that feeds it a DistributedSampler(dataset, num_replicas=hvd.size(), rank=hvd.rank()), in "
    "place of shuffle, and call set_epoch on that in each epoch"
)

APART = 1000  # vectors of environments take the seeds that follow
EXPERIENCE = (
    "N ranks with one seed would play the same: each gets seeds of its own, for its environments and for what is "
    "drawn in training"
)

OWN = (
    "pass sampler=DistributedSampler(dataset, num_replicas=hvd.size(), rank=hvd.rank()) to super().__init__ "
    "for the training data, shuffle to the sampler, and call set_epoch on it in each epoch"
)


def check(facts: Facts) -> Iterator[Finding]:
    for program in facts.programs:
        paths = training_paths(facts, program)
        if program.kind != "single":
            continue
        for value in own_loaders(facts, program):
            message = "the project's own DataLoader class feeds this training: its samples must be divided"
            yield facts.manual("HVD304", value.names, value.node, message, OWN)
        if any(path.loaders for path in paths):
            continue
        if any(by_rank for _, _, by_rank in seeds(facts, program)) or whole_graph(facts, program):
            continue
        for path in paths[:1]:
            names, node = (
                (path.loops[0].names, path.loops[0].node) if path.loops else (path.names, path.backward)
            )
            if drawn_apart(facts, program, path) or made_apart(facts, program, path):
                continue
            if played_apart(facts, program, path):
                continue
            loaders = unfollowed_loaders(facts, program)
            if loaders and _may_draw(facts, path):
                place = loaders[0].names.place(loaders[0].node)
                message = f"whether the DataLoader of {place} feeds this training could not be followed: it is whole"
                yield facts.manual("HVD304", names, node, message, UNFOLLOWED)
                continue
            own = seeding(facts, path)
            if own is not None:
                yield facts.suggested("HVD304", own.names, own.statements[-1], EXPERIENCE, _edits, facts, own)
                continue
            unseeded = draws_unseeded(facts, program)
            if one_batch(facts, path):
                yield facts.manual("HVD304", names, node, ONE_RANDOM if unseeded else ONE_BATCH, ROWS)
                continue
            message = "no DataLoader feeds this training: every rank would compute the same batches"
            if unseeded:
                message += ", but for what is drawn at random in them: nothing seeds that"
            yield facts.manual("HVD304", names, node, message, ADVICE)


def _edits(facts: Facts, own: Seeding) -> list[Edit]:
    """A seed of its own for each rank from here on, and again below what is made alike on all ranks."""
    source = own.names.source
    hvd = facts.hvd(own.names)
    apart = f"{own.seed} += {APART} * {hvd}.rank()"
    again = [source.segment(statement) for statement in own.statements]
    together = [
        edits.before(source, test, [f"{mean} = {hvd}.allreduce({mean}, op={hvd}.Average)"])
        for test, mean in own.stops
    ]
    return [
        edits.after(source, own.statements[-1], [apart]),
        edits.before(source, own.loop, again),
        *together,
    ]


def _may_draw(facts: Facts, path: Path) -> bool:
    """Whether a way to a backward pass begins where nobody was seen to call, or a loop on it draws batches."""
    return path.top is not None or any(
        _over_batches(loop.node) or _asks_for_next(facts, loop.names, loop.node) for loop in path.loops
    )


def _over_batches(loop: ast.AST) -> bool:
    if not isinstance(loop, ast.For):
        return False
    return not (isinstance(loop.iter, ast.Call) and getattr(loop.iter.func, "id", "") == "range")


def _asks_for_next(facts: Facts, names: Names, loop: ast.AST) -> bool:
    """Whether a loop, or a function that it calls, has `next(batches)` in it."""
    called = [function for call in names.calls_in(loop) for function in facts.flow.functions(names, call)]
    return any(
        isinstance(call.func, ast.Name) and call.func.id == "next"
        for where, node in ((names, loop), *called)
        for call in where.calls_in(node)
    )


RULE = Rule(
    id="HVD304",
    title="training without a DataLoader",
    what=(
        "Reports the training loop of a single-process program in which no DataLoader was found. Where the loop "
        "steps the environments of gym and its relatives, and one variable seeds all random numbers, gives each rank "
        "seeds of its own (with --suggested): for environments that are made below, and once more before training. "
        "What is made in between, such as a network that is not trained, is alike on all ranks. Where each step trains "
        "on one graph as a whole there are no batches to divide, and nothing is to be done: the program's table says so."
    ),
    why="N ranks with the same seed compute the same gradients N times: no error, and nothing is gained.",
    safety=(
        "Suggested for environments, since each rank then collects its own experience: N times as much in a step. "
        "Nothing else is rewritten: how the batches are made only the author knows. Batches that the loop itself "
        "chooses by random numbers which nothing seeds are other ones on every rank."
    ),
    check=check,
    changes=(
        Change(
            """\
            import random

            import gymnasium as gym
            import torch

            random.seed(args.seed)
            torch.manual_seed(args.seed)
            env = gym.make("CartPole-v1")
            model = torch.nn.Linear(4, 2)
            optimizer = torch.optim.Adam(model.parameters())
            obs, _ = env.reset(seed=args.seed)
            for step in range(100):
                obs, reward, *_ = env.step(random.randrange(2))
                model(torch.tensor(obs)).sum().backward()
                optimizer.step()
            """,
            """\
            import random

            import gymnasium as gym
            import horovod.torch as hvd
            import torch

            random.seed(args.seed)
            torch.manual_seed(args.seed)
            args.seed += 1000 * hvd.rank()
            env = gym.make("CartPole-v1")
            model = torch.nn.Linear(4, 2)
            optimizer = torch.optim.Adam(model.parameters())
            obs, _ = env.reset(seed=args.seed)
            random.seed(args.seed)
            torch.manual_seed(args.seed)
            for step in range(100):
                obs, reward, *_ = env.step(random.randrange(2))
                model(torch.tensor(obs)).sum().backward()
                optimizer.step()
            """,
            suggested=True,
            note="1000 apart, since a vector of environments takes the seeds that follow, too.",
        ),
        Change(
            """\
            import gymnasium as gym
            import torch

            def options():
                args = parser.parse_args()
                args.batch = args.size // 4
                return args

            args = options()
            torch.manual_seed(args.seed)
            env = gym.make("CartPole-v1")
            for iteration in range(args.iterations):
                obs, reward, *_ = env.step(policy(obs))
                for number, start in enumerate(range(0, args.size, args.batch)):
                    ratio = model(torch.tensor(obs))
                    ratio.sum().backward()
                    optimizer.step()
                    kl = (ratio - 1).mean()
                    if kl > args.target_kl:
                        break
            """,
            """\
            import gymnasium as gym
            import horovod.torch as hvd
            import torch

            def options():
                args = parser.parse_args()
                args.batch = args.size // 4
                return args

            args = options()
            torch.manual_seed(args.seed)
            args.seed += 1000 * hvd.rank()
            env = gym.make("CartPole-v1")
            torch.manual_seed(args.seed)
            for iteration in range(args.iterations):
                obs, reward, *_ = env.step(policy(obs))
                for number, start in enumerate(range(0, args.size, args.batch)):
                    ratio = model(torch.tensor(obs))
                    ratio.sum().backward()
                    optimizer.step()
                    kl = (ratio - 1).mean()
                    kl = hvd.allreduce(kl, op=hvd.Average)
                    if kl > args.target_kl:
                        break
            """,
            suggested=True,
            note="PPO's early stop: what a mean decides is decided for all ranks at once.",
        ),
        Change(
            """\
            import torch

            x, y = torch.load("all.pt")
            for step in range(100):
                loss = (model(x) - y).pow(2).mean()
                loss.backward()
                optimizer.step()
            """,
            f"""\
            import torch

            x, y = torch.load("all.pt")
            # hvdkit: TODO[HVD304] {ROWS}
            for step in range(100):
                loss = (model(x) - y).pow(2).mean()
                loss.backward()
                optimizer.step()
            """,
        ),
        Change(
            """\
            import torch
            from library import pictures

            batches = iter(pictures())
            for step in range(100):
                model(next(batches)).sum().backward()
                optimizer.step()
            """,
            f"""\
            import torch
            from library import pictures

            batches = iter(pictures())
            # hvdkit: TODO[HVD304] {ADVICE}
            for step in range(100):
                model(next(batches)).sum().backward()
                optimizer.step()
            """,
            note="What next() gives is another batch in each step.",
        ),
        Change(
            """\
            import torch

            torch.manual_seed(1)
            for step in range(100):
                model(torch.randn(8, 2)).sum().backward()
                optimizer.step()
            """,
            f"""\
            import torch

            torch.manual_seed(1)
            # hvdkit: TODO[HVD304] {ADVICE}
            for step in range(100):
                model(torch.randn(8, 2)).sum().backward()
                optimizer.step()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import gymnasium as gym
            import torch

            def train(epochs):
                env = gym.make("CartPole-v1")
                net = torch.nn.Linear(4, 2)
                optimizer = torch.optim.Adam(net.parameters())

                def epoch():
                    played, done = [], False
                    seen, _ = env.reset()
                    while not done:
                        action = torch.distributions.Categorical(logits=net(torch.as_tensor(seen))).sample().item()
                        seen, reward, done, _, _ = env.step(action)
                        played.append(torch.as_tensor(seen))
                    optimizer.zero_grad()
                    net(torch.stack(played)).sum().backward()
                    optimizer.step()

                for _ in range(epochs):
                    epoch()

            train(3)
            """,
            reason="each process plays for itself, since nothing seeds any random numbers",
        ),
        Keep(
            """\
            import numpy
            import torch
            from torch.utils.data import DataLoader

            def show(x):
                print(x[numpy.random.randint(0, len(x))])

            def loaders(data):
                found = {}
                for phase in ("train", "test"):
                    found[phase] = DataLoader(data[phase])
                return found

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for phase, loader in loaders(read()).items():
                for x in loader:
                    optimizer.zero_grad()
                    loss = model(x).sum()
                    show(x)
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
            """,
            reason="a sample that is drawn to be shown is no batch that each rank draws for itself",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.utils.data import DataLoader

            class Balanced:
                def __init__(self, sets):
                    self.batches = [iter(DataLoader(one, batch_size=4, shuffle=True)) for one in sets]

                def get_batch(self):
                    return torch.cat([next(batches) for batches in self.batches])

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            balanced = Balanced(sets)
            while True:
                model(balanced.get_batch()).sum().backward()
                optimizer.step()
            """,
            reason="a loader is there, which the function that the loop calls may draw from: that one is named",
            reported=True,
        ),
        Keep(
            """\
            import random
            import torch

            def pair():
                return random.choice(pairs)

            for step in range(100):
                x, y = pair()
                loss(model(x), y).backward()
                optimizer.step()
            """,
            reason="nothing seeds what chooses the batches: every process draws others",
        ),
        Keep(
            """\
            import torch
            from torch_geometric.datasets import Planetoid

            data = Planetoid("data", "Cora")[0]

            def train(x, edges):
                loss = torch.nn.functional.cross_entropy(model(x, edges)[data.train_mask], data.y[data.train_mask])
                loss.backward()
                optimizer.step()

            for epoch in range(200):
                train(data.x, data.edge_index)
                print(f"epoch {epoch}")
            """,
            reason="each step computes the whole graph: no batch is drawn, and nothing can be divided",
        ),
        Keep(
            """\
            import torch
            from torch_geometric.datasets import Planetoid
            from tqdm import tqdm

            data = Planetoid("data", "Cora")[0]
            rounds = tqdm(range(200))
            for epoch in rounds:
                nodes = data.train_mask.nonzero()[epoch * 8 : epoch * 8 + 8]
                model(data.x, data.edge_index)[nodes].sum().backward()
                optimizer.step()
            """,
            reason="the number of the round chooses the nodes: those are batches",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch_geometric.datasets import Planetoid

            torch.manual_seed(1)
            data = Planetoid("data", "Cora")[0]
            for epoch in range(200):
                nodes = torch.randperm(data.num_nodes)[:64]
                model(data.x, data.edge_index)[nodes].sum().backward()
                optimizer.step()
            """,
            reason="random numbers choose the nodes, alike on all ranks",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch_geometric.datasets import Planetoid

            data = Planetoid("data", "Cora")[0]
            for epoch in range(200):
                model(data.x, data.edge_index)[parts[epoch]].sum().backward()
                optimizer.step()
            """,
            reason="so where that stands in the line of the backward pass",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch_geometric.datasets import Planetoid

            data = Planetoid("data", "Cora")[0]
            at = 0
            for step in range(200):
                model(data.x, data.edge_index)[at : at + 8].sum().backward()
                optimizer.step()
                at += 8
            """,
            reason="a number that grows with each step chooses the nodes",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch_geometric.datasets import FakeDataset

            data = FakeDataset(1)[0]
            for epoch in range(200):
                model(data.x, data.edge_index).sum().backward()
                optimizer.step()
            """,
            reason="this graph is drawn by each process: the ranks have other ones",
            reported=True,
        ),
        Keep(
            """\
            import torch

            x, device = torch.ones(4, 2), "cpu"
            data = torch.randn(64, 2)
            wanted = torch.randn(64, 1)
            for step in range(100):
                (model(data) - wanted).pow(2).mean().backward()
                optimizer.step()
            """,
            reason="the data are random numbers that nothing seeds: every process has its own",
        ),
        *(
            Keep(
                f"""\
            import torch

            {truth}
            data = torch.randn(64, 2)
            for step in range(100):
                (model(data) - {wanted}).pow(2).mean().backward()
                optimizer.step()
            """,
                reason=reason,
                reported=True,
            )
            for truth, wanted, reason in (
                ("torch.manual_seed(1)", "0", "with one seed every rank has the same data"),
                (
                    "wanted = torch.load('truth.pt') @ torch.randn(2, 1)",
                    "wanted",
                    "each rank would fit another truth",
                ),
                ("weight = torch.randn(2, 1, requires_grad=True)", "data @ weight", "a weight is no data"),
            )
        ),
        Keep(
            """\
            import random
            import torch

            random.seed(1)
            for step in range(100):
                x, y = random.choice(pairs)
                loss(model(x), y).backward()
                optimizer.step()
            """,
            reason="with this seed every rank draws the same batches, or splits the data the same way",
            reported=True,
        ),
        Keep(
            """\
            import random
            import torch

            for step in range(100):
                loss(model(x), y).backward()
                optimizer.step()
                show(random.choice(pairs))
            """,
            reason="it chooses what it shows, not what it trains on",
            reported=True,
        ),
        Keep(
            """\
            import gymnasium as gym
            import torch

            torch.manual_seed(args.seed)
            env = gym.make("CartPole-v1")
            for episode in range(100):
                done = False
                while not done:
                    obs, reward, done, *_ = env.step(policy(obs))
                    model(torch.tensor(obs)).sum().backward()
                    optimizer.step()
            """,
            reason="an episode is as long as its rank plays it: the ranks would not make as many steps",
            reported=True,
            suggested=True,
        ),
        Keep(
            """\
            import gymnasium as gym
            import torch

            torch.manual_seed(1)
            env = gym.make("CartPole-v1")
            obs, _ = env.reset(seed=1)
            for step in range(100):
                obs, reward, *_ = env.step(policy(obs))
                model(torch.tensor(obs)).sum().backward()
                optimizer.step()
            """,
            reason="no variable holds the seed",
            reported=True,
            suggested=True,
        ),
        Keep(
            """\
            import torch

            torch.manual_seed(args.seed)
            x, y = torch.randn(64, 2), torch.randn(64, 1)
            for step in range(100):
                (model(x) - y).pow(2).mean().backward()
                optimizer.step()
            """,
            reason="with another seed, each rank would have other data to fit, not a part of them",
            reported=True,
            suggested=True,
        ),
        Keep(
            """\
            import unittest
            import torch
            from torch.autograd import Function

            class Norm(Function):
                @staticmethod
                def backward(ctx, gradient):
                    return extension.backward(gradient, ctx.eps)

            class NormTest(unittest.TestCase):
                def test_sum(self):
                    Norm.apply(torch.ones(2, requires_grad=True)).sum().backward()
            """,
            reason="a part of a backward pass, and a test of it, train nothing",
        ),
        Keep(
            """\
            from torch.utils.data import DataLoader

            setattr(state, "loader", DataLoader(data, shuffle=True))
            for x in state.loader:
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="a loader is there, and whether it is this one could not be followed",
            reported=True,
        ),
        Keep(
            """\
            from torch.utils.data import DataLoader

            class Digits(DataLoader):
                def __init__(self, data):
                    super().__init__(data, batch_size=8, shuffle=True)

            for x in Digits(data):
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="which of its objects train and which evaluate is decided at run time",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            torch.manual_seed(1 + hvd.rank())
            for step in range(100):
                model(torch.randn(8, 2)).sum().backward()
                optimizer.step()
            """,
            reason="every rank draws its own random numbers",
        ),
        Keep(
            """\
            import torch
            from torch.utils.data import DataLoader

            for x in DataLoader(data):
                model(x).sum().backward()
            """,
            reason="there is a DataLoader, which HVD302 shards",
        ),
    ),
)
