# Changed: Tensors that are no model's.

import torch

noise = torch.randn(3, requires_grad=True)
target = image.clone().requires_grad_(True)
optimizer = torch.optim.Adam([target, noise], lr=0.1)
loss(target + noise).backward()
optimizer.step()
