# Reported: the model is not the one that DDP synchronised: the program is refused

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

teacher = torch.nn.Linear(2, 1)
student = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(teacher.parameters(), lr=0.1)
