"""A partition of the data for each Process, gradients averaged by hand. Writes RESULTS.RANK."""

import json
import os
from pathlib import Path
from random import Random

import torch
import torch.distributed as dist
from torch.multiprocessing import Process
from torch.utils.data import DataLoader, TensorDataset


class Partition:
    def __init__(self, data, index):
        self.data = data
        self.index = index

    def __len__(self):
        return len(self.index)

    def __getitem__(self, index):
        return self.data[self.index[index]]


class DataPartitioner:
    def __init__(self, data, sizes):
        self.data = data
        self.partitions = []
        indexes = list(range(len(data)))
        Random(1234).shuffle(indexes)
        for fraction in sizes:
            length = int(fraction * len(data))
            self.partitions.append(indexes[:length])
            indexes = indexes[length:]

    def use(self, partition):
        return Partition(self.data, self.partitions[partition])


def partition_dataset():
    x = torch.randn(32, 4, generator=torch.Generator().manual_seed(1))
    size = dist.get_world_size()
    partition = DataPartitioner(TensorDataset(x, x.sum(1, keepdim=True)), [1.0 / size for _ in range(size)])
    return DataLoader(partition.use(dist.get_rank()), batch_size=int(16 / float(size)), shuffle=True)


def average_gradients(model):
    size = float(dist.get_world_size())
    for param in model.parameters():
        dist.all_reduce(param.grad.data, op=dist.ReduceOp.SUM)
        param.grad.data /= size


def run(rank, size):
    torch.manual_seed(1234)
    train_set = partition_dataset()
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        for data, target in train_set:
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(data), target)
            losses.append(loss.item())
            loss.backward()
            average_gradients(model)
            optimizer.step()
    with Path(f"{os.environ['RESULTS']}.{rank}").open("w") as file:
        json.dump([rank, size, losses, [p.tolist() for p in model.parameters()]], file)


def init_process(rank, size, fn, backend="gloo"):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = "29719"
    dist.init_process_group(backend, rank=rank, world_size=size)
    fn(rank, size)


if __name__ == "__main__":
    size = 2
    processes = []
    for rank in range(size):
        p = Process(target=init_process, args=(rank, size, run))
        p.start()
        processes.append(p)

    for p in processes:
        p.join()
