"""Training in phases: what a phase trains is thawed for it, and its gradients add up over rounds."""

import copy
import json
import os
from pathlib import Path

import stats
import torch
from config import Config, construct


class InfiniteSampler(torch.utils.data.Sampler):
    def __init__(self, dataset, rank, num_replicas, seed):
        self.dataset = dataset
        self.rank = rank
        self.num_replicas = num_replicas
        self.seed = seed

    def __iter__(self):
        order = torch.randperm(len(self.dataset), generator=torch.Generator().manual_seed(self.seed))
        index = 0
        while True:
            if index % self.num_replicas == self.rank:
                yield int(order[index % len(order)])
            index += 1


def check_consistency(module):
    for tensor in [*module.parameters(), *module.buffers()]:
        other = tensor.detach().clone()
        torch.distributed.broadcast(tensor=other, src=0)
        assert (tensor == other).all()


def train(
    rank,
    gpus,
    batch_size,
    batch_gpu,
    steps,
    generator_kwargs,
    critic_kwargs,
    opt_kwargs,
    loss_kwargs,
    data_kwargs,
    reg,
    run,
):
    torch.manual_seed(7 * gpus + rank)
    data = construct(**data_kwargs)
    sampler = InfiniteSampler(dataset=data, rank=rank, num_replicas=gpus, seed=3)
    batches = iter(torch.utils.data.DataLoader(dataset=data, sampler=sampler, batch_size=batch_size // gpus))

    generator = construct(**generator_kwargs).train().requires_grad_(False)
    critic = construct(**critic_kwargs).train().requires_grad_(False)
    smooth = copy.deepcopy(generator).eval()

    ddp_modules = {}
    for name, module in [
        ("mapping", generator.mapping),
        ("synthesis", generator.synthesis),
        ("critic", critic),
        (None, smooth),
    ]:
        if gpus > 1 and len(list(module.parameters())) != 0:
            module.requires_grad_(True)
            module = torch.nn.parallel.DistributedDataParallel(module, broadcast_buffers=False)
            module.requires_grad_(False)
        if name is not None:
            ddp_modules[name] = module

    loss = construct(**ddp_modules, **loss_kwargs)
    phases = []
    for name, module, interval in [("G", generator, reg), ("D", critic, 2 * reg)]:
        if interval is None:
            opt = construct(params=module.parameters(), **opt_kwargs)
            phases += [Config(name=name + "main", module=module, opt=opt, interval=1)]
        else:
            ratio = interval / (interval + 1)
            opt_kwargs = Config(opt_kwargs)
            opt_kwargs.lr = opt_kwargs.lr * ratio
            opt = construct(module.parameters(), **opt_kwargs)
            phases += [Config(name=name + "main", module=module, opt=opt, interval=1)]
            phases += [Config(name=name + "reg", module=module, opt=opt, interval=interval)]

    for step in range(steps):
        real = next(batches).split(batch_gpu)
        all_z = torch.randn(len(phases) * batch_size, 4).split(batch_size)
        for phase, z in zip(phases, [part.split(batch_gpu) for part in all_z]):
            if step % phase.interval != 0:
                continue
            phase.opt.zero_grad(set_to_none=True)
            phase.module.requires_grad_(True)
            for number, (real_part, z_part) in enumerate(zip(real, z)):
                sync = number == batch_size // (batch_gpu * gpus) - 1
                loss.accumulate_gradients(phase.name, real_part, z_part, sync=sync, gain=phase.interval)
            phase.module.requires_grad_(False)
            with torch.autograd.profiler.record_function(phase.name + "_opt"):
                for param in phase.module.parameters():
                    if param.grad is not None:
                        torch.nan_to_num(param.grad, nan=0, posinf=1e5, neginf=-1e5, out=param.grad)
                phase.opt.step()
        for p_ema, p in zip(smooth.parameters(), generator.parameters()):
            p_ema.copy_(p.lerp(p_ema, 0.9))

    if gpus > 1:
        check_consistency(generator)
    weights = [
        p.detach().double().flatten().tolist()
        for net in (generator, critic, smooth)
        for p in net.parameters()
    ]
    with Path(f"{os.environ['RESULTS']}.{rank}").open("w") as file:
        json.dump([rank, gpus, run.name, weights, stats.collect()], file)
