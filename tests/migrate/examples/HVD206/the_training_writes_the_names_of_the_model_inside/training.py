import torch

model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
model(x).sum().backward()
torch.save(model.module.state_dict(), 'model.pt')
