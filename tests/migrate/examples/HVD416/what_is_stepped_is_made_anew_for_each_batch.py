# Kept: what is stepped is made anew for each batch: it is no weight, and each rank has its own

import torch

model = torch.nn.Linear(2, 1).eval()
for x in batches:
    noisy = torch.zeros(x.shape, requires_grad=True)
    model(x + noisy).sum().backward()
    noisy.data.add_(noisy.grad.sign(), alpha=0.1)
