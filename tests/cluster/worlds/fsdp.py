"""A torchrun program as people have it: FSDP over Gloo, the loss of each epoch printed on rank 0."""

import os

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
torch.manual_seed(0)
assert int(os.environ["LOCAL_RANK"]) == dist.get_rank() % int(os.environ["LOCAL_WORLD_SIZE"])
model = FullyShardedDataParallel(
    torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)),
    device_id=torch.device("cpu"),
)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
inputs = torch.arange(256.0).view(64, 4) / 256
data = TensorDataset(inputs, inputs.square().sum(1, keepdim=True))
sampler = DistributedSampler(data)
for epoch in range(3):
    sampler.set_epoch(epoch)
    for batch, targets in DataLoader(data, batch_size=4, sampler=sampler):
        optimizer.zero_grad()
        loss = (model(batch) - targets).square().mean()
        loss.backward()
        optimizer.step()
    dist.all_reduce(loss.detach())
    if dist.get_rank() == 0:
        print(f"epoch {epoch} of {dist.get_world_size()} ranks: loss {loss.item():.8f}", flush=True)
dist.barrier()
# Not by destroy_process_group(): Gloo's threads were seen to abort a rank that was ending when others had
# ended ("terminate called without an active exception"), under torchrun as under hvdkit.
os._exit(0)
