"""A script for GPUs with Horovod and SyncBatchNorm, which chooses its device by local rank."""

import horovod.torch as hvd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def build():
    return nn.Sequential(nn.Linear(8, 16), hvd.SyncBatchNorm(16), nn.ReLU(), nn.Linear(16, 1))


def main():
    hvd.init()
    local_rank = hvd.local_rank()
    torch.cuda.set_device(local_rank)
    torch.manual_seed(5)
    inputs = torch.randn(32, 8, generator=torch.Generator().manual_seed(1))
    data = TensorDataset(inputs, inputs.sum(1, keepdim=True).sin())
    sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
    loader = DataLoader(data, batch_size=4, sampler=sampler)

    model = build().cuda(local_rank)
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for x, y in loader:
            x, y = x.cuda(local_rank), y.cuda(local_rank)
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        if hvd.rank() == 0:
            torch.save(model.state_dict(), "model.pt")
    hvd.shutdown()


if __name__ == "__main__":
    main()
