# Reported: the loss is that of the files of this rank

import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader, DistributedSampler

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
loader = DataLoader(data, sampler=DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank()))
held = DataLoader(test, sampler=DistributedSampler(test, num_replicas=hvd.size(), rank=hvd.rank()))
files = sorted(find("*.pt"))
count = len(files) // hvd.size()
for epoch in range(20):
    for file in files[hvd.rank() : count * hvd.size() : hvd.size()]:
        optimizer.zero_grad()
        loss = model(torch.load(file)).mean()
        loss.backward()
        optimizer.step()
    if float(loss) < 0.1:
        break
