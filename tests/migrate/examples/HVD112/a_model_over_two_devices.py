# Reported: a model over two devices: which ones each process takes is to be said

import torch

front = torch.nn.Linear(2, 2).to("cuda:0")
back = torch.nn.Linear(2, 1).to("cuda:1")
back(front(x.to("cuda:0")).to("cuda:1")).sum().backward()
optimizer.step()
