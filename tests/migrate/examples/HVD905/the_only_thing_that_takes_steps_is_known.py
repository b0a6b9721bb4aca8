# Kept: the only thing that takes steps is known: the teacher is not trained by gradients

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

student, teacher = DDP(torch.nn.Linear(2, 1)), DDP(torch.nn.Conv1d(2, 1, 1))
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
student(x).sum().backward()
optimizer.step()
