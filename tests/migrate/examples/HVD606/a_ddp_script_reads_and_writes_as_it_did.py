# Kept: a DDP script reads and writes as it did

import torch
import torch.distributed as dist

torch.save(model.state_dict(), "best.pt")
model.load_state_dict(torch.load("best.pt"))
loss.backward()
dist.barrier()
