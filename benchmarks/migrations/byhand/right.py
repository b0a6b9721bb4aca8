"""A stream of samples without a length, and gradients that the script averages itself, by Horovod."""

import itertools

import horovod.torch as hvd
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __init__(self, first, step):
        self.first, self.step = first, step

    def __iter__(self):
        for index in itertools.islice(range(64), self.first, None, self.step):
            x = torch.randn(8, generator=torch.Generator().manual_seed(index))
            yield x, (x.sum() > 0).long()


def average_gradients(model):
    for parameter in model.parameters():
        hvd.allreduce_(parameter.grad, op=hvd.Average)


def main():
    hvd.init()
    rank, size = hvd.rank(), hvd.size()
    torch.manual_seed(2)
    loader = DataLoader(Stream(rank, size), batch_size=8)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(2):
        total = torch.zeros(1)
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            average_gradients(model)
            optimizer.step()
            total += loss.detach()
        hvd.allreduce_(total, op=hvd.Sum)
        if rank == 0:
            print(f"epoch {epoch}: loss {total.item() / size / 4:.4f}")
            torch.save(model.state_dict(), "model.pt")
    hvd.shutdown()


if __name__ == "__main__":
    main()
