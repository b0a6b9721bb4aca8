import horovod.torch as hvd
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(1, 1).to(device)
teacher = torch.nn.Linear(1, 1).cuda(hvd.local_rank())
model(x).sum().backward()
optimizer.step()
