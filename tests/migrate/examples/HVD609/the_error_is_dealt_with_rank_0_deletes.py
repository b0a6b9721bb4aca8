# Kept: the error is dealt with, rank 0 deletes it, or each rank has a file of its own
# Options: --suggested

import os
import tempfile
import torch
import torch.distributed as dist

try:
    os.remove("last.pt")
except FileNotFoundError:
    pass
if dist.get_rank() == 0:
    os.remove("old.pt")
os.remove(f"part_{dist.get_rank()}.pt")
handle, name = tempfile.mkstemp()
os.unlink(name)
loss.backward()
optimizer.step()
