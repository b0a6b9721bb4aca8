# Kept: a size of one, or rank 0: the helpers ask whether the job started, and answer with True where it did
# not
# Options: --suggested

import os
import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from util import is_main_process, save_on_master

model = DDP(net)
loss.backward()
if is_main_process():
    torch.save(model.state_dict(), "model.pt")
save_on_master(model.state_dict(), "last.pt")
