"""Two models of DDP: an optimizer steps copies of the one, and one picked by name steps the other."""

import json
import os
from importlib import import_module
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

NAME = os.environ.get("OPTIMIZER", "AdamW")


class Masters:
    """Copies in another precision, which get the gradients and give their values back."""

    def __init__(self, model):
        self.params = list(model.parameters())
        self.copies = [p.detach().clone().double().requires_grad_() for p in self.params]

    def take_gradients(self):
        for copy, p in zip(self.copies, self.params):
            copy.grad = p.grad.double()

    def give_back(self):
        with torch.no_grad():
            for copy, p in zip(self.copies, self.params):
                p.copy_(copy)


class Choosing(torch.nn.Module):
    """Of three ways, each rank takes one in a step, and nobody takes the last."""

    def __init__(self):
        super().__init__()
        self.ways = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(3))

    def forward(self, x, way):
        return self.ways[way](x)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    copied = DistributedDataParallel(
        torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    )
    chosen = DistributedDataParallel(Choosing(), find_unused_parameters=True)
    masters = Masters(copied)
    optimizer = torch.optim.Adam(masters.copies, lr=0.01)
    by_name = getattr(import_module("torch.optim"), NAME)(chosen.parameters(), lr=0.01, weight_decay=0.1)
    g = torch.Generator().manual_seed(1)
    data = TensorDataset(torch.randn(64, 4, generator=g), torch.randn(64, 1, generator=g))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for i, (x, y) in enumerate(loader):
            if i % 2 == 0:
                with copied.no_sync():
                    loss = (copied(x) - y).pow(2).mean()
                    loss.backward()
            else:
                loss = (copied(x) - y).pow(2).mean()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(copied.parameters(), 1.0)
                masters.take_gradients()
                optimizer.step()
                masters.give_back()
                copied.zero_grad()
            by_name.zero_grad()
            error = (chosen(x, (rank + i) % 2) - y).abs().mean()
            error.backward()
            by_name.step()
    weights = [p.tolist() for model in (copied, chosen) for p in model.parameters()]
    Path(f"{os.environ['RESULTS']}.{rank}").write_text(json.dumps(weights))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
