# Kept: setting a variable is harmless, and another mapping is not the environment

import os
import torch.distributed as dist

os.environ["LOCAL_RANK"] = "0"
os.environ.setdefault("RANK", "0")
settings = {"RANK": 3}
rank = settings["RANK"]
dist.init_process_group("gloo")
