# Changed.

import os
import torch.distributed as dist

launched = {key: os.environ[key] for key in ["RANK", "WORLD_SIZE"]}
launched["RANK"] = "7"
dist.init_process_group("gloo")
print(int(launched["RANK"]))
