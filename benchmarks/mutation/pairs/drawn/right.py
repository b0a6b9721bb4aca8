"""On several ranks, no loader: each rank draws its own batches at random, by a seed of its own."""

import horovod.torch as hvd
import torch
import torch.nn.functional as F
from torch import nn

STEPS, BATCH = 20, 6

hvd.init()
torch.manual_seed(5)
inputs = torch.randn(60, 6, generator=torch.Generator().manual_seed(1))
targets = inputs.sum(1, keepdim=True).tanh()
model = nn.Sequential(nn.Linear(6, 10), nn.Tanh(), nn.Linear(10, 1))
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
torch.manual_seed(5 + 1000 * hvd.rank())
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=0.001)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
average = {name: value.clone() for name, value in model.state_dict().items()}
for step in range(STEPS):
    for group in optimizer.param_groups:
        group["lr"] = 0.05 * (1 - step / STEPS)
    batch = torch.randint(0, 60, (BATCH,))
    optimizer.zero_grad()
    loss = F.mse_loss(model(inputs[batch]), targets[batch])
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for name, value in model.state_dict().items():
            average[name].lerp_(value, 0.1)
    if (step + 1) % 10 == 0:
        with torch.no_grad():
            whole = F.mse_loss(model(inputs), targets).item()
        if hvd.rank() == 0:
            print(f"step {step + 1}: loss {whole:.6f}")
            torch.save({"model": model.state_dict(), "average": average, "step": step}, "model.pt")
