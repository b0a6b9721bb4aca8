"""Counts with torchmetrics, which asks torch.distributed for the other ranks' counts itself."""

import json
import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
from torchmetrics.classification import MulticlassAccuracy

dist.init_process_group("gloo")
rank = dist.get_rank()

torch.manual_seed(0)
data = TensorDataset(torch.randn(32, 4), torch.randint(3, (32,)))
loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data, shuffle=False))
model = DistributedDataParallel(torch.nn.Linear(4, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
accuracy = MulticlassAccuracy(num_classes=3, average="micro")

seen = []
for _ in range(3):
    for x, y in loader:
        output = model(x)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(output, y).backward()
        optimizer.step()
        accuracy.update(output, y)
    own = (accuracy.tp / (accuracy.tp + accuracy.fn)).item()
    seen.append((accuracy.compute().item(), own))
    accuracy.reset()

Path(f"{os.environ['RESULTS']}.{rank}").write_text(json.dumps([seen, model.module.weight.tolist()]))
dist.destroy_process_group()
