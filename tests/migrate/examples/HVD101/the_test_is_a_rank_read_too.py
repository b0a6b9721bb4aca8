# Changed: The test is a rank read, too: it becomes hvd.size() > 1.

import os
import torch.distributed as dist

ddp = int(os.environ.get("RANK", -1)) != -1
if ddp:
    dist.init_process_group("gloo")
    rank = int(os.environ["RANK"])
