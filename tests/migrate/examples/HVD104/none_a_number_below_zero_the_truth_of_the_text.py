# Changed: None, a number below zero, the truth of the text, and the keys.

import os
import torch.distributed as dist

if os.environ.get("RANK") is not None and os.environ.get("RANK", None) != None:
    dist.init_process_group("nccl")
if os.environ.get("LOCAL_RANK") is None:
    print("alone")
if int(os.environ.get("RANK", -1)) >= 0:
    print("launched")
if int(os.environ.get("RANK", "-1")) < 0:
    print("alone")
if os.getenv("WORLD_SIZE"):
    print("launched")
print("launched" if "RANK" in os.environ.keys() else "alone")
