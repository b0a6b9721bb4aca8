# Reported: this method would fail without DDP: what it is to give instead is not the rule's to say

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Task:
    def __init__(self, model):
        self.model = DDP(model)

    def no_sync(self):
        return self.model.no_sync()

task = Task(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(task.model.parameters(), lr=0.1)
context = task.no_sync()
