"""Two networks, of which the one has two parts, and the losses of their phases."""

import contextlib

import stats
import torch
from torch import nn


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.mapping = nn.Sequential(nn.Linear(4, 8), nn.Tanh())
        self.synthesis = nn.Linear(8, 6)
        self.register_buffer("average", torch.zeros(8))

    def forward(self, z):
        return self.synthesis(self.mapping(z))


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, image):
        return self.body(image)


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 48

    def __getitem__(self, index):
        return torch.randn(6, generator=torch.Generator().manual_seed(index))


@contextlib.contextmanager
def ddp_sync(module, sync):
    if sync or not isinstance(module, torch.nn.parallel.DistributedDataParallel):
        yield
    else:
        with module.no_sync():
            yield


class Loss:
    def __init__(self, mapping, synthesis, critic, penalty):
        self.mapping = mapping
        self.synthesis = synthesis
        self.critic = critic
        self.penalty = penalty

    def generate(self, z, sync):
        with ddp_sync(self.mapping, sync):
            w = self.mapping(z)
        with ddp_sync(self.synthesis, sync):
            return self.synthesis(w), w

    def judge(self, image, sync):
        with ddp_sync(self.critic, sync):
            return self.critic(image)

    def accumulate_gradients(self, phase, real, z, sync, gain):
        if phase == "Gmain":
            image, _ = self.generate(z, sync=sync)
            logits = self.judge(image, sync=False)
            stats.report("signs/fake", logits.sign())
            torch.nn.functional.softplus(-logits).mean().mul(gain).backward()
        if phase == "Greg":
            image, w = self.generate(z, sync=sync)
            (grads,) = torch.autograd.grad(outputs=[image.sum()], inputs=[w], create_graph=True)
            lengths = grads.square().sum(1).sqrt()
            (image[:, 0] * 0 + (lengths - 1).square() * self.penalty).mean().mul(gain).backward()
        if phase == "Dmain":
            image, _ = self.generate(z, sync=False)
            torch.nn.functional.softplus(self.judge(image, sync=False)).mean().mul(gain).backward()
            logits = self.judge(real, sync=sync)
            stats.report("signs/real", logits.sign())
            torch.nn.functional.softplus(-logits).mean().mul(gain).backward()
        if phase == "Dreg":
            image = real.detach().requires_grad_(True)
            logits = self.judge(image, sync=sync)
            (grads,) = torch.autograd.grad(outputs=[logits.sum()], inputs=[image], create_graph=True)
            penalty = grads.square().sum(1) * self.penalty
            (logits[:, 0] * 0 + penalty).mean().mul(gain).backward()
