"""Fine-tuning with Horovod that goes on from a checkpoint: two groups of parameters, a schedule."""

import horovod.torch as hvd
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def build():
    return nn.ModuleDict({"stem": nn.Sequential(nn.Linear(8, 16), nn.Tanh()), "head": nn.Linear(16, 3)})


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = build()

    def forward(self, x):
        return self.parts["head"](self.parts["stem"](x))


def make_optimizer(model):
    optimizer = torch.optim.Adam(model.parts["head"].parameters(), lr=0.02)
    optimizer.add_param_group({"params": model.parts["stem"].parameters(), "lr": 0.002})
    return optimizer


def make_scheduler(optimizer):
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))


def main():
    hvd.init()
    torch.manual_seed(hvd.rank())
    inputs = torch.randn(32, 8, generator=torch.Generator().manual_seed(1))
    data = TensorDataset(inputs, inputs[:, :3].argmax(1))
    sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
    loader = DataLoader(data, batch_size=4, sampler=sampler)

    model = Network()
    optimizer = make_optimizer(model)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    scheduler = make_scheduler(optimizer)
    checkpoint = torch.load("start.pt") if hvd.rank() == 0 else None
    checkpoint = hvd.broadcast_object(checkpoint, root_rank=0, name="checkpoint")
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler.load_state_dict(checkpoint["scheduler"])
    first = checkpoint["epoch"] + 1
    for epoch in range(first, first + 2):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
            scheduler.step()
        if hvd.rank() == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
            torch.save({**state, "scheduler": scheduler.state_dict()}, "model.pt")
    hvd.shutdown()


if __name__ == "__main__":
    main()
