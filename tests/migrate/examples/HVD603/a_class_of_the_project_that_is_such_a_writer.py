# Reported: an object of a class that derives from SummaryWriter writes as well

import torch
from torch.utils.tensorboard import SummaryWriter

class Log(SummaryWriter):
    def count(self):
        self.step = 1

log = Log("runs")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(x).sum().backward()
optimizer.step()
