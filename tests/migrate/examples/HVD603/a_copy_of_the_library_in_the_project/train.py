# Reported: a copy of the library in the project: which of its objects this one is, is not known

import torch
from tensorboardX import SummaryWriter

writer = SummaryWriter("runs")
loss.backward()
optimizer.step()
writer.add_scalar("loss", loss.item(), 1)
