# Kept: the score is sent, and the speed beside it is each rank's own

import time

import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader, DistributedSampler


def evaluate():
    stats = {}
    started = time.time()
    score = torch.tensor([0.0])
    if hvd.rank() == 0:
        score[0] = score_of(model)
    hvd.broadcast_(score, root_rank=0)
    stats["score"] = score[0].item()
    stats["seconds"] = time.time() - started
    return stats


hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
loader = DataLoader(data, sampler=DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank()))
for epoch in range(20):
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
    stats = evaluate()
    if stats["score"] > 0.9:
        break
