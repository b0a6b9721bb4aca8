"""Optimizer steps as people write them, each on its own model; prints a digest of each model's weights."""

import hashlib
import itertools
import os
from contextlib import nullcontext

import torch
import torch.distributed as dist
from apex.parallel.LARC import LARC
from scalers import NativeScaler
from timm.optim import Lookahead
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: N817

BATCHES = 6


def build(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))


def batches(rank, count=BATCHES):
    generator = torch.Generator().manual_seed(100 + rank)
    return [torch.randn(4, 6, generator=generator) for _ in range(count)]


def report(name, *models):
    digest = hashlib.sha256()
    for model in models:
        for value in model.state_dict().values():
            digest.update(value.numpy().tobytes())
    print(f"{name} rank {dist.get_rank()} {digest.hexdigest()}", flush=True)


def clip(rank):
    model = DDP(build(1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for x in batches(rank):
        optimizer.zero_grad(set_to_none=True)
        model(x).pow(2).mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
    report("clip", model.module)


def frozen_for_a_while(rank):
    model = DDP(build(2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for i, x in enumerate(batches(rank)):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        if i < 2:
            for name, p in model.named_parameters():
                if name.endswith("2.weight"):
                    p.grad = None
        optimizer.step()
    report("frozen", model.module)


def accumulate(rank):
    model = DDP(build(3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _epoch in range(2):
        optimizer.zero_grad()
        for i, x in enumerate(batches(rank, 5)):
            loss = model(x).pow(2).mean() / 2
            loss.backward()
            if (i + 1) % 2 == 0:
                optimizer.step()
                optimizer.zero_grad()
    report("accumulate", model.module)


def no_sync(rank):
    model = DDP(build(4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    data = batches(rank, 5)
    for _epoch in range(2):
        for i, x in enumerate(data):
            if (i + 1) % 3 != 0 and i + 1 < len(data):
                with model.no_sync():
                    loss = model(x).pow(2).mean() / 3
                    loss.backward()
            else:
                loss = model(x).pow(2).mean() / 3
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
    report("no_sync", model.module)


def no_sync_by_a_test(rank):
    model = DDP(build(5))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _epoch in range(2):
        optimizer.zero_grad()
        for i, x in enumerate(batches(rank, 5)):
            last = (i + 1) % 2 == 0
            context = nullcontext() if last else model.no_sync()
            with context:
                loss = model(x).pow(2).mean() / 2
                loss.backward()
            if last:
                torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
                optimizer.step()
                optimizer.zero_grad()
    report("no_sync_by_a_test", model.module)


class Task(nn.Module):
    """As timm trains: an object around the model that hands no_sync() on where there is one."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def prepare_distributed(self):
        self.model = DDP(self.model)

    def get_trainable_module(self):
        return self.model

    def no_sync(self):
        module = self.get_trainable_module()
        if module is not None and module is not self and hasattr(module, "no_sync"):
            return module.no_sync()
        return nullcontext()

    def forward(self, x):
        return self.model(x).pow(2).mean()


def handed_on(rank):
    task = Task(build(17))
    model = task.get_trainable_module()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    task.prepare_distributed()
    data = batches(rank, 5)
    for _epoch in range(2):
        has_no_sync = hasattr(task.get_trainable_module(), "no_sync")
        optimizer.zero_grad()
        for i, x in enumerate(data):
            need_update = i + 1 == len(data) or (i + 1) % 3 == 0

            def _backward(loss, update):
                loss.backward()
                if update:
                    torch.nn.utils.clip_grad_norm_(task.parameters(), 0.1)
                    optimizer.step()

            if has_no_sync and not need_update:
                with task.no_sync():
                    _backward(task(x) / 3, need_update)
            else:
                _backward(task(x) / 3, need_update)
            if not need_update:
                continue
            optimizer.zero_grad()
    report("handed_on", task.get_trainable_module().module)


def switched(rank):
    """Micro steps, loss scaling and clipping; on rank 1 the second step overflows."""
    model = DDP(build(6))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler("cpu", init_scale=64.0)
    data = batches(rank)
    if rank == 1:
        data[2][0, 0] = float("inf")
    for step in range(3):
        for micro_step in range(2):
            model.require_backward_grad_sync = micro_step == 1
            loss = model(data[2 * step + micro_step]).pow(2).mean() / 2
            scaler.scale(loss).backward()
        if step < 5:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
    report("switched", model.module)


def helper(rank):
    model = DDP(build(7))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    scaler = NativeScaler()
    for _epoch in range(2):
        optimizer.zero_grad()
        for i, x in enumerate(batches(rank, 5)):
            loss = model(x).pow(2).mean() / 2
            scaler(loss, optimizer, parameters=model.parameters(), update_grad=(i + 1) % 2 == 0)
            if (i + 1) % 2 == 0:
                optimizer.zero_grad()
    report("helper", model.module)


def two_losses(rank):
    model = DDP(build(8))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for x in batches(rank):
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        model(x + 1).abs().mean().backward()
        optimizer.step()
    report("two_losses", model.module)


def closure(rank):
    model = DDP(build(9))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for x in batches(rank):

        def compute(x=x):
            optimizer.zero_grad()
            loss = model(x).pow(2).mean()
            loss.backward()
            return loss

        loss = optimizer.step(compute)
        assert loss.item() >= 0
    report("closure", model.module)


def gan(rank):
    generator = DDP(nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 6)))
    scale = DDP(build(10))
    period = DDP(build(11))
    optim_g = torch.optim.AdamW(generator.parameters(), lr=0.01, betas=(0.5, 0.9))
    optim_d = torch.optim.AdamW(itertools.chain(scale.parameters(), period.parameters()), lr=0.01)
    for x in batches(rank):
        fake = generator(x)
        optim_d.zero_grad()
        loss_d = (scale(fake.detach()) - scale(x)).mean() + (period(fake.detach()) - period(x)).mean()
        loss_d.backward()
        optim_d.step()

        optim_g.zero_grad()
        loss_g = -scale(fake).mean() - period(fake).mean()
        loss_g.backward()
        optim_g.step()
    report("gan", generator.module, scale.module, period.module)


SOLVERS = {}


def solver(cls):
    SOLVERS[cls.__name__] = cls
    return cls


class Solver:
    """As BasicSR trains: one method makes the optimizers of all networks."""

    def __init__(self):
        self.optimizers = []

    def wrap(self, net):
        return DDP(net)

    def get_optimizer(self, kind, params, lr, **kwargs):
        if kind == "adam":
            optimizer = torch.optim.AdamW(params, lr, **kwargs)
        elif kind == "sgd":
            optimizer = torch.optim.SGD(params, lr, **kwargs)
        else:
            raise NotImplementedError(kind)
        return optimizer

    def slow_down(self):
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] *= 0.9


@solver
class Adversaries(Solver):
    def __init__(self):
        super().__init__()
        self.net_g = self.wrap(nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 6)))
        self.net_d = self.wrap(build(19))
        self.setup()

    def setup(self):
        params = []
        for _, p in self.net_g.named_parameters():
            if p.requires_grad:
                params.append(p)
        self.optimizer_g = self.get_optimizer("adam", params, lr=0.01, betas=(0.5, 0.9))
        self.optimizers.append(self.optimizer_g)
        self.optimizer_d = self.get_optimizer("sgd", self.net_d.parameters(), 0.1, momentum=0.9)
        self.optimizers.append(self.optimizer_d)

    def step(self, x, number):
        for p in self.net_d.parameters():
            p.requires_grad = False
        self.optimizer_g.zero_grad()
        fake = self.net_g(x)
        if number > 0:
            (-self.net_d(fake).mean()).backward()
            self.optimizer_g.step()
        for p in self.net_d.parameters():
            p.requires_grad = True
        self.optimizer_d.zero_grad()
        loss = -self.net_d(x).mean()
        loss.backward()
        loss = self.net_d(fake.detach()).mean()
        loss.backward()
        self.optimizer_d.step()

    def tell(self):
        report("one_factory", self.net_g.module, self.net_d.module)


def one_factory(rank):
    torch.manual_seed(18)
    adversaries = SOLVERS["Adversaries"]()
    for number, x in enumerate(batches(rank)):
        adversaries.step(x, number)
        adversaries.slow_down()
    adversaries.tell()


def build_optimizer(model, kind="sgd", staged=False, new=()):
    """As torchreid makes them: two rates, for the parts that are new and for the others."""
    if staged:
        if hasattr(model, "module"):
            model = model.module
        old, fresh = [], []
        for name, module in model.named_children():
            if name in new:
                fresh += list(module.parameters())
            else:
                old += list(module.parameters())
        groups = [{"params": old, "lr": 0.01}, {"params": fresh}]
    else:
        groups = model.parameters()
    if kind == "sgd":
        optimizer = torch.optim.SGD(groups, lr=0.1, momentum=0.9)
    elif kind == "adam":
        optimizer = torch.optim.Adam(groups, lr=0.1)
    return optimizer


class Mutual:
    """Two networks that learn from each other."""

    def __init__(self, one, first, other, second):
        self.one, self.first = one, first
        self.other, self.second = other, second

    def step(self, x):
        one, other = self.one(x), self.other(x)
        loss_one = (one - other.detach()).pow(2).mean() + one.pow(2).mean()
        loss_other = (other - one.detach()).pow(2).mean() + other.abs().mean()
        self.first.zero_grad()
        loss_one.backward()
        self.first.step()
        self.second.zero_grad()
        loss_other.backward()
        self.second.step()


def mutual(rank):
    one, other = DDP(build(20)), DDP(build(21))
    first = build_optimizer(one, staged=True, new=("2",))
    second = build_optimizer(other, kind="adam")
    pair = Mutual(one, first, other, second)
    for x in batches(rank):
        pair.step(x)
    report("mutual", one.module, other.module)


def left():
    model = DDP(build(12))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    return model, optimizer


def right():
    model = DDP(build(13))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    return model, optimizer


def alike(rank):
    """Two models of one shape, of one name where their optimizers are made, and one backward for both."""
    one, first = left()
    two, second = right()
    for x in batches(rank):
        first.zero_grad()
        second.zero_grad()
        (one(x) * two(x)).sum().backward()
        first.step()
        second.step()
    report("alike", one.module, two.module)


def larc(rank):
    """As SwAV trains: layers' gradients scaled in the outer step(), those of one layer cancelled at first."""
    model = build(14)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)
    optimizer = LARC(optimizer=optimizer, trust_coefficient=0.001, clip=False)
    model = DDP(model)
    for i, x in enumerate(batches(rank)):
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        if i < 2:
            for name, p in model.named_parameters():
                if name.endswith("2.weight"):
                    p.grad = None
        optimizer.step()
    report("larc", model.module)


class Centred(torch.optim.Optimizer):
    """As people copy LARC into their project: an optimizer by its base class, with another one inside."""

    def __init__(self, inner):
        self.inner = inner

    @property
    def param_groups(self):
        return self.inner.param_groups

    def zero_grad(self):
        self.inner.zero_grad()

    def step(self):
        for group in self.inner.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad -= p.grad.mean()
        self.inner.step()


def centred(rank):
    model = DDP(build(16))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    optimizer = Centred(optimizer)
    for x in batches(rank):
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
    report("centred", model.module)


class Config:
    """As pytorch-template makes what its configuration names."""

    def __init__(self, settings):
        self.settings = settings

    @classmethod
    def read(cls):
        return cls(
            {
                "optimizer": {"type": "AdamW", "args": {"lr": 0.01}},
                "scheduler": {"type": "StepLR", "args": {}},
            }
        )

    def init_obj(self, name, module, *args, **kwargs):
        given = dict(self.settings[name]["args"])
        given.update(kwargs)
        return getattr(module, self.settings[name]["type"])(*args, **given)


def looked_up(rank):
    config = Config.read()
    model = DDP(build(18))
    parameters = filter(lambda p: p.requires_grad, model.parameters())
    optimizer = config.init_obj("optimizer", torch.optim, parameters)
    scheduler = config.init_obj("scheduler", torch.optim.lr_scheduler, optimizer, step_size=2)
    for x in batches(rank):
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        scheduler.step()
    report("looked_up", model.module)


def lookahead(rank, around=True):
    model = DDP(build(15))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    if around:
        optimizer = Lookahead(optimizer, k=2)
    scaler = NativeScaler()
    for x in batches(rank):
        optimizer.zero_grad()
        scaler(model(x).pow(2).mean(), optimizer, parameters=model.parameters())
    report("lookahead" if around else "without", model.module)


class Scaled(torch.optim.Optimizer):
    """As iBOT's LARS: each layer's step in proportion to its weights."""

    def __init__(self, params, lr=0, momentum=0.9, weight_decay=0):
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if "mu" not in state:
                    state["mu"] = torch.zeros_like(p)
                step = p.grad.add(p, alpha=group["weight_decay"])
                state["mu"].mul_(group["momentum"]).add_(step * p.norm())
                p.add_(state["mu"], alpha=-group["lr"])


def heads(rank):
    """As iBOT evaluates: heads of one shape, each with an optimizer of the class that a test chooses."""
    backbone = build(20).eval()
    heads = nn.ModuleList()
    optimizers = []
    schedulers = []
    for lr, kind in itertools.product((0.01, 0.1), ("sgd", "scaled")):
        head = nn.Linear(3, 2)
        head = DDP(head)
        heads.append(head)
        parameters = head.parameters()
        optimizer = torch.optim.SGD if kind == "sgd" else Scaled
        optimizer = optimizer(parameters, lr * dist.get_world_size(), momentum=0.9, weight_decay=1e-6)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 4, eta_min=0)
        optimizers.append(optimizer)
        schedulers.append(scheduler)
    for x in batches(rank):
        with torch.no_grad():
            output = backbone(x)
        for head, optimizer in zip(heads, optimizers):
            loss = head(output).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        for scheduler in schedulers:
            scheduler.step()
    report("heads", *heads)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.set_num_threads(1)
    assert os.environ.get("OMP_NUM_THREADS") == "1"
    clip(rank)
    frozen_for_a_while(rank)
    accumulate(rank)
    no_sync(rank)
    no_sync_by_a_test(rank)
    handed_on(rank)
    switched(rank)
    helper(rank)
    two_losses(rank)
    closure(rank)
    gan(rank)
    one_factory(rank)
    mutual(rank)
    alike(rank)
    larc(rank)
    centred(rank)
    looked_up(rank)
    lookahead(rank)
    lookahead(rank, around=False)
    heads(rank)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
