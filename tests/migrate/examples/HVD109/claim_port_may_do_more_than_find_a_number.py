# Kept: claim_port() may do more than find a number; a variable left set is harmless

import os
import torch.distributed as dist

os.environ["MASTER_PORT"] = str(claim_port())
os.environ["DATA"] = "data"
dist.init_process_group("gloo")
