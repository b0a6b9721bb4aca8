# Changed: An address that is assigned together with another variable stays; one that is read gets a
# default.

import os
import torch.distributed as dist

os.environ["MASTER_PORT"] = port = "29500"
os.environ["MASTER_ADDR"] = "localhost"
dist.init_process_group("nccl", init_method=f"tcp://{os.environ['MASTER_ADDR']}:{port}")
