# Changed: More is imported below what one rank of a host downloads, as in a notebook.

import torch
import torchvision

data = torchvision.datasets.MNIST("data", download=True)

import matplotlib

model = torch.nn.Linear(2, 1)
model(torch.ones(2)).sum().backward()
optimizer.step()
