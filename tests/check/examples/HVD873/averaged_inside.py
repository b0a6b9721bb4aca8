# Kept: what the function returns is averaged

import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader, DistributedSampler

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
loader = DataLoader(data, sampler=DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank()))
held = DataLoader(test, sampler=DistributedSampler(test, num_replicas=hvd.size(), rank=hvd.rank()))


def validate():
    total, correct = 0.0, 0
    for x, y in held:
        out = model(x)
        total += criterion(out, y).item()
        correct += (out.argmax(1) == y).sum().item()
    counts = hvd.allreduce(torch.tensor([total, correct]), op=hvd.Sum)
    return counts[0].item(), counts[1].item() / len(test)


best = 0.0
for epoch in range(20):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    loss, score = validate()
    if score < best:
        break
    best = score
