# Kept: another mapping, a comparison with a number that says nothing of a launcher, two tests in one

import os
import torch.distributed as dist

dist.init_process_group("nccl")
settings = dict(RANK=0)
if "RANK" in settings or "RANK" == name:
    print("set")
if int(os.environ.get("RANK", -1)) == 3:
    print("the third")
if "RANK" in names in lists:
    print("in both")
print(settings.get("RANK") is None)
