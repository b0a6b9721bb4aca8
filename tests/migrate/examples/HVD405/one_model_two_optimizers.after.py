import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
first = torch.optim.SGD([p for n, p in model.named_parameters() if "bias" in n], lr=0.1)
second = torch.optim.SGD([p for n, p in model.named_parameters() if "bias" not in n], lr=0.1)
for i, x in enumerate(batches):
    first.set_backward_passes_per_step(1 if i % 2 == 1 else 2)
    second.set_backward_passes_per_step(1 if i % 2 == 1 else 2)
    model(x).sum().backward()
    if i % 2 == 1:
        first.step()
        second.step()
        model.zero_grad()
