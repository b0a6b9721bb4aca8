# Changed: cuda without a number is the device that torch.cuda.set_device(hvd.local_rank()) chose (HVD110).

import torch

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(1, 1).to(device)
teacher = torch.nn.Linear(1, 1).cuda(0)
model(x).sum().backward()
optimizer.step()
