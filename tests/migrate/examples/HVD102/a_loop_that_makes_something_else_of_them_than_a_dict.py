# Reported: a loop that makes something else of them than a dict is not followed

import os
import torch.distributed as dist

dist.init_process_group("gloo")
rank, size = (int(os.environ[name]) for name in ("RANK", "WORLD_SIZE"))
