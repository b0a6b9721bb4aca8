# Kept: rank 0 writes already

import torch
import horovod.torch as hvd
from tensorboardX import SummaryWriter

loss.backward()
if hvd.rank() == 0:
    writer = SummaryWriter()
    writer.add_scalar("loss", loss.item(), 1)
