# Changed: Tests such as `local_rank == -1` further down keep their meaning.

import os
from os import environ as env
import torch.distributed as dist

local_rank = int(os.environ.get("LOCAL_RANK", -1))
world = int(env.get("WORLD_SIZE", "1"))
if local_rank >= 0:
    dist.init_process_group("gloo")
seed = 1 + int(os.getenv("RANK", "-1"))
