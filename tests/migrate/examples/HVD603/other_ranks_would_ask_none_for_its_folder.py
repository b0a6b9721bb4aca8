# Reported: other ranks would ask None for its folder

import torch
from torch.utils.tensorboard import SummaryWriter

writer = SummaryWriter()
loss.backward()
optimizer.step()
torch.save(model, writer.log_dir + "/model.pt")
