import torch

model = build().cuda()
model(torch.ones(1)).sum().backward()
optimizer.step()
