import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def norm(parameters):
    return torch.stack([p.grad.norm() for p in parameters]).norm()

def loss_of(x):
    return model(x).sum()

for x in batches:
    optimizer.zero_grad()
    torch.autograd.backward(loss_of(x))
    optimizer.synchronize()
    print(norm(model.parameters()))
    with optimizer.skip_synchronize():
        optimizer.step()
