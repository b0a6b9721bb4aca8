# Kept: the test is held by a variable, which is true elsewhere only in a job of one

import os
import torch
import torch.distributed as dist

ddp = int(os.environ.get("RANK", -1)) != -1
if ddp:
    dist.init_process_group("nccl")
    ddp_rank = int(os.environ["RANK"])
    master_process = ddp_rank == 0
else:
    master_process = True
if master_process:
    torch.save(state, "model.pt")
